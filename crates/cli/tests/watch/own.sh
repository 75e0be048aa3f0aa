for i in $(seq 1 14); do echo "content $i of a file" > f$i.txt; done
mkdir -p sub/deep empty shut; echo x > sub/a; echo y > sub/b; echo z > sub/deep/c; : > sub/nothing
echo secret > key.pem; chmod 600 key.pem; printf '#!/bin/sh\n' > run.sh; chmod 755 run.sh; chmod 750 sub
echo shared > one; ln one two; ln one sub/three; ln -s f1.txt link; ln -s nowhere dangling
printf x > "$(printf 'a\nb')"; echo s > 'with space'; printf '\377\n' > bytes
truncate -s 1M sparse; printf end >> sparse
git init -q . && git add f1.txt f2.txt sub && git commit -qm i && echo changed >> f1.txt && git rm -q --cached sub/b
touch -d '2001-02-03 04:05:06.789' f3.txt f5.txt key.pem one sparse; touch -h -d 2002-01-01 link
