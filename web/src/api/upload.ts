import { base } from '../boot'
import { type Media, Refusal, unreachable } from './client'

/** Uploads a file; fetch cannot tell how far it is, XMLHttpRequest can. */
export function upload(file: File, progress: (share: number) => void, signal?: AbortSignal): Promise<Media> {
  return new Promise((done, failed) => {
    const request = new XMLHttpRequest()
    const form = new FormData()
    form.append('alt_text', '')
    form.append('file', file, file.name)
    request.open('POST', `${base}/api/v1/media`)
    request.setRequestHeader('Idempotency-Key', crypto.randomUUID())
    request.responseType = 'json'
    request.upload.onprogress = (e) => e.lengthComputable && progress(e.loaded / e.total)
    request.onload = () => {
      if (request.status < 300) done(request.response as Media)
      else failed(new Refusal(request.status, (request.response ?? {}) as object))
    }
    request.onerror = () => failed(new Refusal(unreachable, { code: 'unreachable' }))
    request.onabort = () => failed(new DOMException('aborted', 'AbortError'))
    signal?.addEventListener('abort', () => request.abort())
    request.send(form)
  })
}
