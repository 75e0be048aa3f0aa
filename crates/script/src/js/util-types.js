// `node:util/types`.
import { types } from "util";
export const {
  isPromise, isRegExp, isDate, isNativeError, isMap, isSet, isTypedArray, isUint8Array, isArrayBuffer, isProxy,
  isAsyncFunction, isGeneratorFunction, isBoxedPrimitive, isSymbolObject, isWeakMap, isWeakSet, isDataView,
  isArrayBufferView, isAnyArrayBuffer, isModuleNamespaceObject,
} = types;
export default types;
