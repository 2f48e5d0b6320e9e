/** What the program tells the page that it serves, see web.go. */
const meta = document.querySelector<HTMLMetaElement>('meta[name=dateline]')?.dataset ?? {}

export const base = meta.base ?? ''
export const nonce = meta.nonce ?? ''
export const temporalUI = meta.temporal ?? ''
export const sandbox = meta.sandbox ?? ''

// The library that keeps the page behind a dialog from scrolling adds a style
// element; the Content-Security-Policy lets in what carries the nonce.
Object.assign(globalThis, { __webpack_nonce__: nonce })
