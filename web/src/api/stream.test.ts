import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { EventReader, follow, type ServerEvent } from './stream'

test('events are parsed wherever the chunks are split', () => {
  const text = 'id: 1-1\n\n: ping\nid: 2-2\nevent: posted\ndata: {"a":1}\ndata: b\n\nid: 3-3\r\ndata: Chào\r\n\r\n'
  for (const size of [1, 2, 3, 7, text.length]) {
    const reader = new EventReader()
    const got: ServerEvent[] = []
    for (let i = 0; i < text.length; i += size) got.push(...reader.push(text.slice(i, i + size)))
    expect(got).toEqual([
      { id: '2-2', event: 'posted', data: '{"a":1}\nb' },
      { id: '3-3', event: 'message', data: 'Chào' },
    ])
    expect(reader.lastId).toBe('3-3')
  }
})

test('an id without data advances the last event id', () => {
  const reader = new EventReader()
  expect(reader.push('id: 9-9\n\n')).toEqual([])
  expect(reader.lastId).toBe('9-9')
})

const open: { close(): void }[] = []
afterEach(() => {
  for (const o of open.splice(0)) o.close()
})

test('an interrupted stream resumes after its last event, also after 502 responses', async () => {
  const asked: (string | undefined)[] = []
  const server = createServer((request, answer) => {
    asked.push(request.headers['last-event-id'] as string | undefined)
    if (asked.length === 2) {
      answer.writeHead(502).end()
      return
    }
    answer.writeHead(200, { 'Content-Type': 'text/event-stream' })
    answer.write(`id: ${asked.length}-1\ndata: ${asked.length}\n\n`)
    if (asked.length === 1) answer.end()
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const stop = new AbortController()
  open.push({
    close: () => {
      stop.abort()
      server.closeAllConnections()
      server.close()
    },
  })
  const got: string[] = []
  const states: string[] = []
  await new Promise<void>((done) => {
    void follow(
      `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
      {
        event: (e) => {
          got.push(e.data)
          if (got.length === 2) done()
        },
        state: (s, resumed) => states.push(resumed ? `${s} again` : s),
      },
      stop.signal,
    )
  })
  expect(got).toEqual(['1', '3'])
  expect(asked).toEqual([undefined, '1-1', '1-1'])
  expect(states).toEqual(['live', 'broken', 'broken', 'live again'])
})

test('a refused stream does not reconnect', async () => {
  let asked = 0
  const server = createServer((_, answer) => {
    asked++
    answer.writeHead(401).end()
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  open.push({ close: () => void server.close() })
  let status = 0
  await follow(
    `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    { event: () => {}, refused: (s) => (status = s) },
    new AbortController().signal,
  )
  expect([asked, status]).toEqual([1, 401])
})

test('a stream that the server closed does not reconnect', async () => {
  let asked = 0
  const server = createServer((_, answer) => {
    asked++
    answer.writeHead(200, { 'Content-Type': 'text/event-stream' })
    answer.end(
      'id: 1-1\ndata: 1\n\nevent: closed\ndata: {"code":"session_ended","message":"You are no longer logged in."}\n\n',
    )
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  open.push({ close: () => void server.close() })
  const got: string[] = []
  const states: string[] = []
  let code = ''
  await follow(
    `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    {
      event: (e) => got.push(e.data),
      state: (s) => states.push(s),
      closed: (why) => (code = why.code),
    },
    new AbortController().signal,
  )
  expect({ asked, got, states, code }).toEqual({
    asked: 1,
    got: ['1'],
    states: ['live', 'broken'],
    code: 'session_ended',
  })
})

test('a proxy that passes on nothing is told apart from a lost connection', async () => {
  let passes = false
  const server = createServer((_request, answer) => {
    if (!passes) return // buffers, and sends not even the status
    answer.writeHead(200, { 'Content-Type': 'text/event-stream' })
    answer.write('id: 1\ndata: x\n\n')
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  open.push({ close: () => server.closeAllConnections() }, server)
  const stop = new AbortController()
  const states: string[] = []
  await follow(
    `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    {
      event: () => stop.abort(),
      state: (now) => {
        states.push(now)
        passes = true
      },
    },
    stop.signal,
    300,
  )
  expect(states).toEqual(['held', 'live'])
})
