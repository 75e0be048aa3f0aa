export const pass = () => ({ action: "pass" });
export const deny = (reason) => ({ action: "deny", reason });
export const ask = (reason) => ({ action: "ask", reason });
export const modify = (args, reason) => (reason === undefined ? { action: "modify", args } : { action: "modify", args, reason });
export const defineReflex = (reflex) => reflex;
export const parseCommand = (command) => JSON.parse(__reflex.parse(String(command)));
