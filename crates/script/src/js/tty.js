// `node:tty`: nobody looks at what a module prints.
export const isatty = () => false;
export default { isatty };
