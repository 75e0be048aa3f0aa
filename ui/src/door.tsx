import { useState } from "preact/hooks";
import * as api from "./api";
import { look } from "./app";

/** Login form. */
export function Door() {
  const [problem, setProblem] = useState("");
  const enter = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const proof = String(new FormData(form).get("proof") ?? "");
    const isCode = /^[a-z0-9]{10}$/.test(proof);
    try {
      await api.enter(isCode ? { code: proof } : { passphrase: proof });
    } catch (first) {
      try {
        if (!isCode) throw first;
        await api.enter({ passphrase: proof });
      } catch {
        setProblem(first instanceof Error ? first.message : String(first));
        return;
      }
    }
    await look();
  };
  return (
    <main class="door">
      <h1>Reflex</h1>
      <form onSubmit={(event) => void enter(event)}>
        <label>
          Code from the terminal, or passphrase
          <input type="password" name="proof" required autocomplete="off" autofocus />
        </label>
        <button class="primary">Enter</button>
      </form>
      <p role="alert">{problem}</p>
    </main>
  );
}
