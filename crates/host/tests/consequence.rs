//! The same command is another matter on this machine, on a far one, and where customers are.

use reflex_agents::universal;
use reflex_engine::Severity;
use serde_json::{Value, json};

const LOCAL: &str = "DATABASE_URL=postgres://me:pw@localhost:5432/shop\n";
const FAR: &str = "DATABASE_URL=postgres://me:pw@db.example.com/shop\n";

#[track_caller]
fn check(command: &str, facts: Value, expected: Option<Severity>) {
    let call = json!({
        "event": "pre-command", "command": command, "cwd": "/repo", "workspace": "/repo", "home": "/home/me",
        "facts": facts,
    });
    let object = call.as_object().unwrap();
    let event = universal::read(object).unwrap_or_else(|problem| panic!("{command}: {problem}"));
    let world = universal::supposed(object, &event).unwrap();
    let found = crate::guard_of_nobody().judge_in(&event, &world, &[]).verdict.findings;
    let worst = found.iter().map(|finding| finding.severity).max();
    assert_eq!(worst, expected, "{command} with {facts}: {found:?}");
}

const QUIET: Option<Severity> = Some(Severity::Low);
const WARN: Option<Severity> = Some(Severity::Medium);
const ASK: Option<Severity> = Some(Severity::High);
const DENY: Option<Severity> = Some(Severity::Critical);

fn dotenv(text: &str) -> Value {
    json!({"files": {".env": text}})
}

fn kube(context: &str) -> Value {
    json!({"files": {"/home/me/.kube/config": format!("apiVersion: v1\ncurrent-context: {context}\n")}})
}

#[test]
fn a_client_of_a_database_is_judged_by_its_host() {
    let none = || json!({});
    check("psql -h localhost shop -c 'drop table a'", none(), WARN);
    check("psql -hlocalhost shop -c 'drop table a'", none(), WARN);
    check("psql postgres://me@127.0.0.1/shop -c 'drop table a'", none(), WARN);
    check("psql -h db.example.com shop -c 'drop table a'", none(), ASK);
    check("psql shop -c 'drop table a'", none(), ASK);
    check("psql -h shop-prod.example.com -c 'drop table a'", none(), ASK);
    check("psql -h db.prod.example.com -c 'drop table a'", none(), DENY);
    check("psql -h localhost shop_production -c 'drop table a'", none(), DENY);
    check("PGHOST=localhost psql -c 'drop table a'", none(), WARN);
    check("psql -c 'drop table a'", json!({"env": {"PGHOST": "localhost"}}), WARN);
    check("psql -c 'drop table a'", json!({"env": {"PGHOST": "prod-db"}}), DENY);
    check("export PGHOST=prod-db; psql -c 'drop table a'", json!({"env": {"PGHOST": "localhost"}}), DENY);
    check("mysql -h 127.0.0.1 -e 'truncate table a'", none(), WARN);
    check("redis-cli -h localhost flushall", none(), WARN);
    check("redis-cli -u redis://cache.prod.example.com flushall", none(), DENY);
    check("mongosh mongodb://localhost/shop --eval 'db.dropDatabase()'", none(), WARN);
    check("mongosh mongodb://a.example.com,localhost/shop --eval 'db.dropDatabase()'", none(), ASK);
}

#[test]
fn a_project_is_judged_by_what_its_settings_point_to() {
    for command in ["npx drizzle-kit drop", "npx knex migrate:rollback", "./manage.py flush", "mix ecto.drop"] {
        check(command, dotenv(LOCAL), WARN);
        check(command, dotenv(FAR), ASK);
        check(command, dotenv("DATABASE_URL=postgres://db.prod.example.com/shop"), DENY);
        check(command, json!({}), ASK);
    }
    let schema = |url: &str| {
        json!({"files": {
            "prisma/schema.prisma": format!("datasource db {{\n  provider = \"postgresql\"\n  url = {url}\n}}\n"),
            ".env": LOCAL,
        }})
    };
    check("npx prisma migrate reset --force", schema("env(\"DATABASE_URL\")"), None);
    check("npx prisma migrate reset --force", schema("env(\"SHOP_URL\")"), ASK);
    check("npx prisma migrate reset --force", schema("\"postgres://prod-db/shop\""), DENY);
    check("RAILS_ENV=test rails db:drop", json!({}), WARN);
    check("RAILS_ENV=production rails db:drop", json!({}), DENY);
    check("alembic downgrade base", json!({"files": {"alembic.ini": "sqlalchemy.url = sqlite:///a.db\n"}}), WARN);
}

#[test]
fn a_settings_file_that_an_option_names_says_what_it_is_about() {
    let far = "DATABASE_URL=postgres://db.prod.example.com/shop";
    let files =
        |name: &str, text: &str, code: &str| json!({"files": {name: text, "migrations/env.py": code, ".env": far}});
    let file = |name: &str, text: &str| files(name, text, "");
    let downgrade = "alembic -c conf/alembic-test.ini downgrade base";
    let local = "script_location = migrations\nsqlalchemy.url = postgres://localhost/shop_test\n";
    check(downgrade, file("conf/alembic-test.ini", local), WARN);
    check(downgrade, files("conf/alembic-test.ini", local, "url = os.environ[\"DATABASE_URL\"]"), ASK);
    let tight = "script_location=migrations\nsqlalchemy.url=postgres://localhost/shop_test\n";
    check(downgrade, files("conf/alembic-test.ini", tight, "url = os.getenv(\"DATABASE_URL\")"), ASK);
    check(downgrade, file("conf/alembic-test.ini", "# postgres://localhost/shop_test\nsqlalchemy.url =\n"), ASK);
    check(downgrade, file("conf/none", ""), ASK);
    check(downgrade, file("conf/alembic-test.ini", "sqlalchemy.url = postgres://db.prod.example.com/shop\n"), DENY);
    check(downgrade, file("conf/alembic-test.ini", "sqlalchemy.url = postgres://db.example.com/shop\n"), ASK);
    check("alembic -c $CONFIG downgrade base", file("conf/none", ""), ASK);
    check("alembic --config=conf/production.ini downgrade base", file("conf/none", ""), DENY);
    let clean = "flyway -configFiles=conf/flyway-test.conf clean";
    check(clean, file("conf/flyway-test.conf", "flyway.url=jdbc:postgresql://localhost:5432/shop_test\n"), WARN);
    check(clean, file("conf/flyway-test.conf", "flyway.url=jdbc:postgresql://db.prod.example.com/shop\n"), DENY);
    check(clean, file("conf/flyway-test.conf", "flyway.url=${DB_URL}\n"), ASK);
}

#[test]
fn what_the_call_itself_changes_is_not_believed() {
    let reset = "npx drizzle-kit drop";
    check(&format!("cp .env.production .env; {reset}"), dotenv(LOCAL), ASK);
    check(&format!("DATABASE_URL=$(cat url) {reset}"), dotenv(LOCAL), ASK);
    check(&format!("export DATABASE_URL=postgres://prod-db/x; {reset}"), dotenv(LOCAL), DENY);
    check(&format!("ssh -fNL 5432:db.example.com:5432 jump; {reset}"), dotenv(LOCAL), ASK);
    check(&format!("{reset} --url=postgres://db.example.com/x"), dotenv(LOCAL), ASK);
    let two = json!({"files": {".env": LOCAL, ".env.local": FAR}});
    check(reset, two, ASK);
}

#[test]
fn a_database_is_the_calls_own_only_if_the_call_must_have_made_it() {
    check("createdb x1 && psql -d x1 -c 'drop table a' && dropdb x1", json!({}), WARN);
    check("mysql -e 'CREATE DATABASE a' && mysql -e 'DROP DATABASE a'", json!({}), WARN);
    check("mysql -e 'CREATE DATABASE a; DROP DATABASE a'", json!({}), WARN);
    for call in [
        "createdb shop; dropdb shop",
        "createdb shop || true && dropdb shop",
        "echo 'create database shop' && dropdb shop",
        "createdb -h other shop && dropdb shop",
        "PGHOST=other createdb shop && dropdb shop",
        "export PGHOST=other; createdb shop && unset PGHOST && dropdb shop",
        "docker exec a createdb shop && docker exec b dropdb shop",
        "./createdb shop && dropdb shop",
        "createdb() { true; }; createdb shop && dropdb shop",
        "psql <<< 'create database shop; drop database shop'",
        "psql -c 'create database shop' -c 'select 1' && dropdb shop",
        "mysql --force -e 'create database shop' && mysql -e 'drop database shop'",
        "psql -c 'drop database shop; create database shop'",
    ] {
        check(call, json!({}), ASK);
    }
}

#[test]
fn a_cluster_is_judged_by_its_context() {
    check("kubectl delete pod a", kube("kind-dev"), QUIET);
    check("kubectl delete pod a", kube("shop-eu"), ASK);
    check("kubectl delete pod a", kube("prod-eu"), DENY);
    check("kubectl delete pod a --context prod-eu", kube("kind-dev"), DENY);
    check("kubectl delete pod a -n prod", kube("kind-dev"), DENY);
    check("kubectl config use-context prod-eu && kubectl delete pod a", kube("kind-dev"), DENY);
    check("kubectl config use-context \"$C\" && kubectl delete pod a", kube("kind-dev"), ASK);
    check("KUBECONFIG=/repo/far kubectl delete pod a", kube("kind-dev"), ASK);
    check("kubectl apply -f a.yaml", kube("minikube"), QUIET);
    check("helm uninstall web", kube("kind-dev"), QUIET);
    check("helm uninstall web --kube-context prod", kube("kind-dev"), DENY);
}

#[test]
fn a_cloud_is_judged_by_its_account() {
    check("aws s3 rm s3://b/x --recursive --endpoint-url http://localhost:4566", json!({}), QUIET);
    check("aws s3 rm s3://dev.local/x --recursive", json!({}), ASK);
    check("aws s3 rm s3://b/x --recursive", json!({"env": {"AWS_PROFILE": "shop-prod"}}), DENY);
    check("aws s3 rm s3://b/x --recursive --profile dev", json!({"env": {"AWS_PROFILE": "shop-prod"}}), ASK);
    check("gcloud sql instances delete d --project shop-prod", json!({}), DENY);
    check("gcloud config set project shop-prod; gcloud sql instances delete d", json!({}), DENY);
    check("gcloud sql instances delete d", json!({"env": {"CLOUDSDK_CORE_PROJECT": "shop-prod"}}), DENY);
    check("terraform destroy", json!({"files": {".terraform/environment": "prod"}}), DENY);
    check("terraform destroy", json!({"files": {".terraform/environment": "dev"}}), ASK);
    check("terraform destroy -var-file=prod.tfvars", json!({}), DENY);
}

#[test]
fn a_container_is_where_its_daemon_is() {
    let daemon = |context: &str| {
        json!({"files": {
            "/home/me/.docker/config.json": format!("{{\n\"currentContext\": \"{context}\"\n}}"),
        }})
    };
    check("docker volume rm data", daemon("desktop-linux"), ASK);
    check("docker volume rm data", daemon("shop-prod"), DENY);
    check("docker context use shop-prod; docker volume rm data", daemon("desktop-linux"), DENY);
    // The container runs here, and its volume may hold anybody's data.
    check("docker exec db psql -h localhost -c 'drop table a'", daemon("desktop-linux"), ASK);
    check("docker exec db psql -c 'drop table a'", daemon("desktop-linux"), ASK);
    check("docker exec db psql -d shop_test -c 'drop table a'", daemon("desktop-linux"), WARN);
    check("docker exec db psql -h localhost -c 'drop table a'", daemon("far"), ASK);
    check("ssh prod-db psql -h localhost -c \"'drop table a'\"", json!({}), DENY);
    check("ssh far psql -h localhost -c \"'drop table a'\"", json!({}), ASK);
}
