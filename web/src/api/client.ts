import createClient from 'openapi-fetch'
import { base } from '../boot'
import type { components, paths } from './schema'

export type Schemas = components['schemas']
export type Post = Schemas['Post']
export type Target = Schemas['Target']
export type Account = Schemas['Account']
export type Media = Schemas['Media']
export type PostStatus = Schemas['PostStatus']
export type Role = Schemas['Role']

/** A failed request: a problem document (RFC 9457), or no response at all. */
export class ApiError extends Error {
  readonly status: number
  readonly code: string
  readonly params?: Record<string, unknown>
  readonly fields: Schemas['FieldProblem'][]
  constructor(status: number, problem: Partial<Schemas['Problem']>) {
    super(problem.detail || problem.title || `HTTP ${status}`)
    this.status = status
    this.code = problem.code ?? ''
    this.params = problem.params
    this.fields = problem.errors ?? []
  }
}

/** The code of a request that a proxy in front of the API refused because of its size. */
export const proxyTooLarge = 'proxy_too_large'

/** The status of a request without a response. */
export const unreachable = 0

export const api = createClient<paths>({
  baseUrl: base,
  credentials: 'same-origin',
  querySerializer: { array: { style: 'form', explode: false } },
})

type Answer<T> = { data?: T; error?: unknown; response: Response }

/** Returns the data of a response, or throws an ApiError. On 401 it opens the login page. */
export async function unwrap<T>(call: Promise<Answer<T>>): Promise<T> {
  let answer: Answer<T>
  try {
    answer = await call
  } catch (cause) {
    if (cause instanceof DOMException && cause.name === 'AbortError') throw cause
    throw new ApiError(unreachable, { code: 'unreachable' })
  }
  if (answer.response.ok) return answer.data as T
  if (answer.response.status === 401) location.assign(`${base}/login`)
  const problem = typeof answer.error === 'object' && answer.error !== null ? answer.error : {}
  throw new ApiError(answer.response.status, problem)
}

/** The If-Match header: the change applies only to this version. */
export const ifMatchHeader = (version: number) => ({ 'If-Match': `"${version}"` })

/** An Idempotency-Key header: a repeated request has no further effect. */
export const idempotencyHeader = () => ({ 'Idempotency-Key': crypto.randomUUID() })

export const mediaURL = (id: string) => `${base}/api/v1/media/${id}/content`
