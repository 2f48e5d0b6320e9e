/** Data that the program embeds in the page, see web.go. */
const meta = document.querySelector<HTMLMetaElement>('meta[name=dateline]')?.dataset ?? {}

export const base = meta.base ?? ''
export const nonce = meta.nonce ?? ''
export const temporalUI = meta.temporal ?? ''
export const sandbox = meta.sandbox ?? ''

// The library that prevents scrolling behind a dialog adds a style
// element; the Content-Security-Policy allows it because of the nonce.
Object.assign(globalThis, { __webpack_nonce__: nonce })
