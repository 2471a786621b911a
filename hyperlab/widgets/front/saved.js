// A stand-in for the model of a widget: it holds the state of a saved panel, and nobody answers.
const bytes = (text) => new DataView(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);
const frozen = (state) => ({ frozen: true, get: (k) => { if (state[k]?.base64 !== undefined) state[k] = bytes(state[k].base64); return state[k]; },
  set: (k, v) => { state[k] = v; }, save_changes() {}, on() {}, off() {}, send() {} });
