import { base } from '../boot'
import {
  api,
  type Media,
  idempotencyHeader,
  ApiError,
  proxyTooLarge,
  type Schemas,
  unwrap,
  unreachable,
} from './client'

/** Files from this size on are uploaded to the bucket directly; through the program, every byte would be transferred twice. */
const large = 8 << 20
/** The number of times that failed parts are retried. */
const rounds = 3

type Progress = (share: number) => void

/** Uploads a file. */
export async function upload(file: File, progress: Progress, signal?: AbortSignal): Promise<Media> {
  // If one way is closed, the other is tried: a browser may not reach the bucket, and a proxy
  // may refuse bodies above its own limit (nginx: 1 MB).
  const [first, second] = file.size < large ? [uploadForm, uploadDirect] : [uploadDirect, uploadForm]
  try {
    return await first(file, progress, signal)
  } catch (error) {
    if (!(error instanceof BucketAway) && !isProxyLimit(error)) throw error
    try {
      return await second(file, progress, signal)
    } catch (other) {
      throw other instanceof BucketAway ? error : other
    }
  }
}

const isProxyLimit = (error: unknown) =>
  error instanceof ApiError && error.status === 413 && error.code === proxyTooLarge

class BucketAway extends Error {}

interface Request {
  method: string
  url: string
  body: XMLHttpRequestBodyInit
  headers?: Record<string, string>
  sent: (bytes: number) => void
  signal?: AbortSignal
}

/** Uploads with XMLHttpRequest, because fetch does not report progress. Without a response the status is 0. */
export function send({ method, url, body, headers = {}, sent, signal }: Request): Promise<XMLHttpRequest> {
  return new Promise((done, failed) => {
    const request = new XMLHttpRequest()
    request.open(method, url)
    for (const [name, value] of Object.entries(headers))
      if (!/^(host|content-length)$/i.test(name)) request.setRequestHeader(name, value) // set by the browser
    request.responseType = 'json'
    request.upload.onprogress = (e) => sent(e.loaded)
    request.onload = request.onerror = () => done(request)
    request.onabort = () => failed(new DOMException('aborted', 'AbortError'))
    signal?.addEventListener('abort', () => request.abort())
    if (signal?.aborted) request.abort()
    else request.send(body)
  })
}

async function uploadForm(file: File, progress: Progress, signal?: AbortSignal): Promise<Media> {
  const form = new FormData()
  form.append('alt_text', '')
  form.append('file', file, file.name)
  const answer = await send({
    method: 'POST',
    url: `${base}/api/v1/media`,
    body: form,
    headers: idempotencyHeader(),
    sent: (n) => progress(Math.min(1, n / file.size)),
    signal,
  })
  if (answer.status === 0) throw new ApiError(unreachable, { code: 'unreachable' })
  // The program answers with a problem document, a proxy with a page.
  if (answer.status === 413 && !answer.response) throw new ApiError(413, { code: proxyTooLarge })
  if (answer.status >= 300) throw new ApiError(answer.status, (answer.response ?? {}) as object)
  return answer.response as Media
}

interface Piece {
  method: string
  url: string
  headers?: Record<string, string>
  blob: Blob
}

/** The parts of a file that are still to be uploaded, and their URLs. */
function piecesOf(file: File, u: Schemas['MediaUpload']): Piece[] {
  if (u.parts)
    return u.parts.map((p) => ({
      ...p,
      blob: file.slice((p.number - 1) * (u.part_bytes ?? 0), (p.number - 1) * (u.part_bytes ?? 0) + p.bytes),
    }))
  return u.url && u.method ? [{ method: u.method, url: u.url, headers: u.headers, blob: file }] : []
}

async function uploadDirect(file: File, progress: Progress, signal?: AbortSignal): Promise<Media> {
  let u: Schemas['MediaUpload'] = await unwrap(
    api.POST('/api/v1/media/uploads', {
      signal,
      params: { header: idempotencyHeader() },
      body: { file_name: file.name, bytes: file.size, ...(file.type ? { mime_type: file.type } : {}) },
    }),
  )
  const path = { id: u.id }
  for (let round = 1; ; round++) {
    const answered = await sendPieces(piecesOf(file, u), file.size, progress, signal)
    if (answered === 'all') break
    if (round === rounds || answered === 'none') throw new BucketAway()
    u = await unwrap(api.GET('/api/v1/media/uploads/{id}', { signal, params: { path } })) // with new URLs for the missing parts
  }
  return unwrap(api.POST('/api/v1/media/uploads/{id}/complete', { signal, params: { path } }))
}

/** Uploads one part after the other. none: there was no response at all. */
async function sendPieces(
  pieces: Piece[],
  size: number,
  progress: Progress,
  signal?: AbortSignal,
): Promise<'all' | 'some' | 'none'> {
  let done = size - pieces.reduce((sum, p) => sum + p.blob.size, 0)
  const before = done
  for (const { blob, ...to } of pieces) {
    const answer = await send({ ...to, body: blob, sent: (n) => progress(Math.min(1, (done + n) / size)), signal })
    if (answer.status < 200 || answer.status >= 300) return answer.status === 0 && done === before ? 'none' : 'some'
    done += blob.size
  }
  return 'all'
}
