set -e
git init -q -b main
git config user.name Dev
git config user.email dev@example.com
mkdir -p src
cat > src/app.py <<'EOF'
from util import total


def main():
    print(total([1, 2]))


if __name__ == '__main__':
    main()
EOF
mkdir -p src
cat > src/util.py <<'EOF'
def total(xs):
    return sum(xs)
EOF
cat > package.json <<'EOF'
{"name": "shop", "version": "1.0.0", "private": true, "scripts": {"test": "node --test"}}
EOF
cat > README.md <<'EOF'
# shop

A small project.
EOF
cat > .gitignore <<'EOF'
.env
build/
node_modules/
__pycache__/
EOF
git add -A
git commit -qm 'Initial import'
printf '\n\ndef mean(xs):\n    return total(xs) / len(xs)\n' >> src/util.py
mkdir -p data
cat > data/a.csv <<'EOF'
id,amount
1,20
2,35
EOF
mkdir -p data
cat > data/b.csv <<'EOF'
id,amount
3,5
4,80
EOF
cat > notes.md <<'EOF'
# notes
- call with Ada on Monday
- TODO check the totals
EOF
cat > .env <<'EOF'
API_TOKEN=local-value-1
DB_URL=postgres://localhost/shop
EOF
mkdir -p build
cat > build/out.js <<'EOF'
// built
EOF
mkdir -p node_modules/left
cat > node_modules/left/index.js <<'EOF'
module.exports = 1
EOF
mkdir -p src/__pycache__
cat > src/__pycache__/app.cpython-312.pyc <<'EOF'
x
EOF
