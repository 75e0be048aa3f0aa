//! Requests of a module to the machine, limited to granted resources.

use super::tools::Tools;
use super::urls::host_of;
use crate::model::answer::Missed;
use crate::model::error::MachineError;
use rquickjs::{Ctx, Exception, Result, TypedArray, Value as Js};
use serde_json::{Value, json};

/// Executes a module's request to the machine if it is granted.
pub(super) fn on_machine<'js>(
    tools: &Tools,
    ctx: &Ctx<'js>,
    (operation, name): (&str, &str),
    argument: Js<'js>,
) -> Result<Js<'js>> {
    let (call, granted) = (tools.call(), tools.granted.borrow());
    let machine = &call.machine;
    tools.afford(ctx, 0)?;
    let failed = |error: MachineError| Exception::throw_message(ctx, &error.to_string());
    let looked: Vec<String> = granted.files.iter().chain(&granted.writes).cloned().collect();
    let needed = match operation {
        "read" | "list" => Some(&granted.files),
        "write" | "folder" => Some(&granted.writes),
        "kind" => Some(&looked),
        _ => None,
    };
    if let Some(pattern) = needed.and_then(|needed| machine.ungranted(name, needed)) {
        tools.miss(Missed::File { pattern, writes: operation != "read" && operation != "list" && operation != "kind" });
        return Err(failed(MachineError::NotGranted(name.into())));
    }
    let text = |text: String| rquickjs::IntoJs::into_js(text, ctx);
    match operation {
        "read" => {
            let bytes = machine.read(name, &granted.files).map_err(failed)?;
            tools.charge_bytes(bytes.len());
            Ok(TypedArray::new(ctx.clone(), bytes)?.into_value())
        }
        "write" => {
            let bytes = <Vec<u8> as rquickjs::FromJs>::from_js(ctx, argument)?;
            tools.afford(ctx, bytes.len().saturating_mul(4))?;
            machine.write(name, &bytes, &granted.writes).map_err(failed)?;
            Ok(Js::new_undefined(ctx.clone()))
        }
        "folder" => {
            machine.make_folder(name, &granted.writes).map_err(failed)?;
            Ok(Js::new_undefined(ctx.clone()))
        }
        "list" => text(json!(machine.list(name, &granted.files).map_err(failed)?).to_string()),
        "kind" => text(machine.kind(name, &looked).unwrap_or("").to_owned()),
        "variable" => {
            let is_granted = granted.environment.iter().any(|known| known == name);
            if !is_granted && machine.variable(name).is_some() {
                tools.miss(Missed::Variable(name.to_owned()));
            }
            let value = is_granted.then(|| machine.variable(name)).flatten();
            value.map_or_else(|| Ok(Js::new_undefined(ctx.clone())), text)
        }
        "variables" => text(json!(granted.environment).to_string()),
        "fetch" => {
            let request = argument.as_string().and_then(|text| text.to_string().ok()).unwrap_or_default();
            let request: Value = serde_json::from_str(&request).unwrap_or_default();
            if let Some(host) = host_of(name).filter(|host| !granted.network.contains(host)) {
                tools.miss(Missed::Host(host));
            }
            let of = |key: &str| request.get(key).and_then(Value::as_str).unwrap_or("").to_owned();
            let answer = machine.fetch(name, (&of("method"), &of("body")), &granted.network).map_err(failed)?;
            tools.charge_bytes(answer.1.len());
            text(json!({"status": answer.0, "body": answer.1}).to_string())
        }
        _ => Err(Exception::throw_message(ctx, &format!("unknown operation `{operation}`"))),
    }
}
