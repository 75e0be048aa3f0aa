//! The audit log for other systems: OCSF and OTLP, printed and sent to a collector.

use crate::support::{Machine, at_terminal};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::thread::{self, JoinHandle};

const TOKEN: &str = "ghp_8fK2pQ9xWv3LmZr7Tn5Yc1Hd6Jb4Sg0aUeXq";

fn lived() -> Machine {
    let machine = Machine::new();
    for command in [
        "ls",
        "rm -rf ~",
        "git push --force origin topic",
        &format!("curl -H 'Authorization: Bearer {TOKEN}' https://x.example"),
    ] {
        machine.bash(&machine.project(), command);
    }
    machine
}

fn exported(machine: &Machine, format: &str) -> Vec<Value> {
    let output = machine.reflex(["audit", "export", "--format", format]).run();
    assert_eq!(output.code, 0, "{output:?}");
    assert!(!output.stdout.contains(TOKEN), "a secret left the log");
    output.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn every_record_is_an_event_of_ocsf() {
    let events = exported(&lived(), "ocsf");
    assert_eq!(events.len(), 4);
    for event in &events {
        // Fields that the schema requires for every class, and for these two.
        for key in ["activity_id", "category_uid", "class_uid", "type_uid", "severity_id", "time"] {
            assert!(event[key].is_u64(), "{key} in {event}");
        }
        assert_eq!(
            event["type_uid"].as_u64(),
            Some(event["class_uid"].as_u64().unwrap() * 100 + event["activity_id"].as_u64().unwrap())
        );
        assert_eq!(event["class_uid"].as_u64().unwrap() / 1000, event["category_uid"].as_u64().unwrap());
        assert_eq!(
            (&event["metadata"]["version"], &event["metadata"]["product"]["vendor_name"]),
            (&json!("1.3.0"), &json!("Reflex"))
        );
        match event["class_uid"].as_u64() {
            Some(2004) => {
                assert!(event["finding_info"]["title"].is_string() && event["finding_info"]["uid"].is_string())
            }
            Some(6003) => assert!(
                event["api"]["operation"].is_string()
                    && event["src_endpoint"].is_object()
                    && event["actor"].is_object()
            ),
            other => panic!("{other:?}"),
        }
    }
    let denied = &events[1];
    assert_eq!(
        (&denied["class_uid"], &denied["severity"], &denied["action"], &denied["disposition_id"]),
        (&json!(2004), &json!("Critical"), &json!("Denied"), &json!(2))
    );
    assert_eq!((&events[0]["class_uid"], &events[0]["action_id"]), (&json!(6003), &json!(1)));
}

/// Checks the OTLP JSON encoding: field names, 64-bit integers as strings, values by type.
fn check_request(request: &Value) -> usize {
    let resource = &request["resourceLogs"][0];
    assert_eq!(
        resource["resource"]["attributes"][0],
        json!({"key": "service.name", "value": {"stringValue": "reflex"}})
    );
    let records = resource["scopeLogs"][0]["logRecords"].as_array().unwrap();
    for record in records {
        assert!(record["timeUnixNano"].as_str().unwrap().parse::<u64>().unwrap() > 1_600_000_000_000_000_000);
        assert!(
            (1..=24).contains(&record["severityNumber"].as_u64().unwrap()) && record["body"]["stringValue"].is_string()
        );
        for attribute in record["attributes"].as_array().unwrap() {
            let value = attribute["value"].as_object().unwrap();
            assert!(attribute["key"].is_string() && value.len() == 1, "{attribute}");
            assert!(["stringValue", "arrayValue"].contains(&value.keys().next().unwrap().as_str()), "{attribute}");
        }
    }
    records.len()
}

#[test]
fn every_record_is_a_log_record_of_otlp() {
    let requests = exported(&lived(), "otlp");
    assert_eq!(requests.iter().map(check_request).sum::<usize>(), 4);
    let denied = &requests[0]["resourceLogs"][0]["scopeLogs"][0]["logRecords"][1];
    assert_eq!((&denied["severityText"], &denied["body"]["stringValue"]), (&json!("FATAL"), &json!("rm -rf ~")));
}

/// A collector as the protocol specifies it: one path, JSON, a length. It is busy at first, then accepts all but one.
fn collector() -> (String, JoinHandle<Vec<Value>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let taken = thread::spawn(move || {
        let mut bodies = Vec::new();
        for answer in [
            "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2b\r\n{\"partialSuccess\":{\"rejectedLogRecords\":\"1\"\r\n2\r\n}}\r\n0\r\n\r\n",
        ] {
            let (stream, _) = listener.accept().unwrap();
            let mut reader = BufReader::new(stream);
            let mut head = String::new();
            while !head.ends_with("\r\n\r\n") {
                reader.read_line(&mut head).unwrap();
            }
            // Header names are case-insensitive.
            let head = head.to_lowercase();
            assert!(
                head.starts_with("post /v1/logs http/1.1\r\n") && head.contains("content-type: application/json\r\n"),
                "{head}"
            );
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap().parse().unwrap();
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            bodies.push(serde_json::from_slice(&body).unwrap());
            reader.get_mut().write_all(answer.as_bytes()).unwrap();
        }
        bodies
    });
    (url, taken)
}

#[test]
fn a_person_sends_the_log_to_a_collector_and_nobody_else_does() {
    let machine = lived();
    let refused = machine.reflex(["audit", "export", "--format", "otlp", "--to", "http://127.0.0.1:9"]).run();
    assert!(refused.code == 1 && refused.stderr.contains("only a person"), "{refused:?}");
    let (url, taken) = collector();
    let Some((code, output)) = at_terminal(&machine, &format!("audit export --format otlp --to {url}"), "") else {
        return;
    };
    assert!(code == 1 && output.contains("6 records are sent, 1 of them refused"), "{output}");
    let bodies = taken.join().unwrap();
    assert!(bodies[0] == bodies[1] && !bodies[0].to_string().contains(TOKEN));
    // Four calls, an attempt without a person, and the export itself.
    assert_eq!(check_request(&bodies[0]), 6);
    let (code, output) = at_terminal(&machine, "audit export --format otlp --to http://192.0.2.1:4318", "").unwrap();
    assert!(code == 64 && output.contains("not this machine"), "{output}");
}
