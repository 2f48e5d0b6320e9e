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

/** An answer that is not what was asked for: a problem document (RFC 9457), or none at all. */
export class Refusal extends Error {
  readonly status: number
  readonly code: string
  readonly fields: { field: string; code: string; message: string }[]
  constructor(status: number, problem: Partial<Schemas['Problem']>) {
    super(problem.detail || problem.title || `HTTP ${status}`)
    this.status = status
    this.code = problem.code ?? ''
    this.fields = problem.errors ?? []
  }
}

/** No answer at all. */
export const unreachable = 0

export const api = createClient<paths>({
  baseUrl: base,
  credentials: 'same-origin',
  querySerializer: { array: { style: 'form', explode: false } },
})

type Answer<T> = { data?: T; error?: unknown; response: Response }

/** Gives what was answered, or throws a Refusal. Whoever is no longer logged in is sent to the login page. */
export async function take<T>(call: Promise<Answer<T>>): Promise<T> {
  let answer: Answer<T>
  try {
    answer = await call
  } catch (cause) {
    if (cause instanceof DOMException && cause.name === 'AbortError') throw cause
    throw new Refusal(unreachable, { code: 'unreachable' })
  }
  if (answer.response.ok) return answer.data as T
  if (answer.response.status === 401) location.assign(`${base}/login`)
  const problem = typeof answer.error === 'object' && answer.error !== null ? answer.error : {}
  throw new Refusal(answer.response.status, problem)
}

/** The header that makes a change conditional on nobody else having changed it. */
export const ifMatch = (version: number) => ({ 'If-Match': `"${version}"` })

/** The header that makes a repeated request harmless. */
export const once = () => ({ 'Idempotency-Key': crypto.randomUUID() })

export const mediaURL = (id: string) => `${base}/api/v1/media/${id}/content`
