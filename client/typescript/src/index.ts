/**
 * Client of the REST API of a Dateline instance. Paths, parameters and responses are
 * generated from its OpenAPI description:
 *
 *     const dateline = createDatelineClient({ url: 'https://dateline.example.com', token })
 *     const { posts } = await unwrap(dateline.GET('/api/v1/posts', { params: { query: { status: ['failed'] } } }))
 */
import createClient, { type Client } from 'openapi-fetch'
import type { components, paths } from './schema.js'

export type { components, operations, paths } from './schema.js'

/** The schemas of requests and responses, such as `Schemas['Post']`. */
export type Schemas = components['schemas']

export interface Options {
  /** Such as https://dateline.example.com. */
  url: string
  /** An API token, such as dl_…. */
  token: string
  /** Instead of the global fetch. */
  fetch?: (request: Request) => Promise<Response>
}

/** A request without success: a problem document (RFC 9457). */
export class DatelineError extends Error {
  readonly status: number
  /** Stable, such as `post_not_found`. */
  readonly code: string
  /** The invalid fields of a request. */
  readonly fields: readonly { field: string; code: string; message: string }[]
  /** When to repeat the request, in seconds; undefined: unknown. */
  readonly retryAfter: number | undefined

  constructor(status: number, problem: Partial<Schemas['Problem']>, retryAfter?: number) {
    super(problem.detail || problem.title || `HTTP ${status}`)
    this.name = 'DatelineError'
    this.status = status
    this.code = problem.code ?? ''
    this.fields = problem.errors ?? []
    this.retryAfter = retryAfter
  }
}

export function createDatelineClient({ url, token, fetch }: Options): Client<paths> {
  return createClient<paths>({
    baseUrl: url.replace(/\/+$/, ''),
    headers: { Authorization: `Bearer ${token}` },
    querySerializer: { array: { style: 'form', explode: false } },
    ...(fetch ? { fetch } : {}),
  })
}

/** Returns the data of a response, or throws a DatelineError. */
export async function unwrap<T>(call: Promise<{ data?: T; error?: unknown; response: Response }>): Promise<T> {
  const { data, error, response } = await call
  if (response.ok) return data as T
  const after = Number.parseInt(response.headers.get('Retry-After') ?? '', 10)
  throw new DatelineError(response.status, typeof error === 'object' && error !== null ? error : {}, Number.isNaN(after) ? undefined : after)
}

/** An Idempotency-Key header: a repeated request has no further effect. */
export const idempotencyKey = (key: string = crypto.randomUUID()) => ({ 'Idempotency-Key': key })

/** An If-Match header: the change applies only to this version of a post. */
export const ifVersion = (version: number) => ({ 'If-Match': `"${version}"` })
