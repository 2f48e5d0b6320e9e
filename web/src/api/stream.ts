/** One event of a stream of server-sent events. */
export interface ServerEvent {
  id: string
  event: string
  data: string
}

/**
 * Implements the "event stream interpretation" of the HTML standard, chunk by chunk. An
 * EventSource does so too, but stops reconnecting when a proxy returns 502
 * while the program restarts, and then loses its position.
 */
export class EventReader {
  private rest = ''
  private event = ''
  private data: string[] = []
  /** The id of the last event, also of one without data. */
  lastId: string

  constructor(lastId = '') {
    this.lastId = lastId
  }

  push(text: string): ServerEvent[] {
    const out: ServerEvent[] = []
    this.rest += text
    for (;;) {
      const end = /\r\n|\n|\r(?!$)/.exec(this.rest)
      if (!end) return out
      const line = this.rest.slice(0, end.index)
      this.rest = this.rest.slice(end.index + end[0].length)
      if (line === '') {
        if (this.data.length > 0)
          out.push({ id: this.lastId, event: this.event || 'message', data: this.data.join('\n') })
        this.event = ''
        this.data = []
        continue
      }
      const colon = line.indexOf(':')
      const field = colon < 0 ? line : line.slice(0, colon)
      const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '')
      if (field === 'id' && !value.includes('\0')) this.lastId = value
      else if (field === 'event') this.event = value
      else if (field === 'data') this.data.push(value)
    }
  }
}

/** held: the server was reached, but a proxy passed on nothing of the stream, not even its first ping. */
export type Connection = 'connecting' | 'live' | 'broken' | 'held'

export interface Listener {
  event(e: ServerEvent): void
  /** resumed: events since the last connection follow; nothing needs to be fetched again. */
  state?(s: Connection, resumed: boolean): void
  refused?(status: number): void
  /** The server ended access, for example because the session ended. The stream does not reconnect. */
  closed?(why: Closed): void
}

/** Why the server closed a stream, see `GET /api/v1/events` in openapi.yaml. */
export interface Closed {
  code: string
  message: string
}

export const silence = 45_000 // the server sends a ping every 15 s
const longestWait = 5_000

/** Follows a stream until the signal. If the connection breaks, it resumes after the last event. */
export async function follow(
  address: string,
  listener: Listener,
  signal: AbortSignal,
  silenceTimeout = silence,
): Promise<void> {
  let lastId = ''
  let wait = 250
  while (!signal.aborted) {
    const attempt = new AbortController()
    const stop = () => attempt.abort()
    signal.addEventListener('abort', stop)
    let held = true // until the first byte
    let expired = false
    const expire = () => {
      expired = true
      stop()
    }
    let quiet = setTimeout(expire, silenceTimeout)
    try {
      const headers: Record<string, string> = { Accept: 'text/event-stream' }
      if (lastId) headers['Last-Event-ID'] = lastId
      const answer = await fetch(address, {
        headers,
        credentials: 'same-origin',
        cache: 'no-store',
        signal: attempt.signal,
      })
      if (answer.status >= 400 && answer.status < 500 && answer.status !== 429 && answer.status !== 408) {
        listener.refused?.(answer.status)
        return
      }
      if (!answer.ok || !answer.body) throw new Error(`HTTP ${answer.status}`)
      listener.state?.('live', lastId !== '')
      const reader = new EventReader(lastId)
      const body = answer.body.pipeThrough(new TextDecoderStream()).getReader()
      for (;;) {
        const { done, value } = await body.read()
        if (done) break
        clearTimeout(quiet)
        quiet = setTimeout(expire, silenceTimeout)
        held = false
        wait = 250
        for (const e of reader.push(value)) {
          if (e.event === 'closed') {
            listener.state?.('broken', false)
            listener.closed?.(JSON.parse(e.data) as Closed)
            return
          }
          listener.event(e)
        }
        lastId = reader.lastId
      }
    } catch {
      // It reconnects below.
    } finally {
      clearTimeout(quiet)
      signal.removeEventListener('abort', stop)
    }
    if (signal.aborted) return
    listener.state?.(held && expired ? 'held' : 'broken', false)
    await new Promise((done) => setTimeout(done, wait))
    wait = Math.min(wait * 2, longestWait)
  }
}
