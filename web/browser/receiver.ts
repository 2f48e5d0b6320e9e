import { createServer, type Server } from 'node:http'

/** A webhook receiver with configurable responses. */
export class Receiver {
  address = ''
  answer = 204
  readonly got: { type: string }[] = []
  /** The requests as they arrived. */
  readonly raw: { body: string; headers: Record<string, string> }[] = []
  private server: Server | undefined

  async listen(): Promise<void> {
    const server = createServer((request, answer) => {
      let body = ''
      request.on('data', (part: Buffer) => (body += part.toString()))
      request.on('end', () => {
        this.raw.push({ body, headers: request.headers as Record<string, string> })
        if (this.answer < 300 && request.headers['content-type'] === 'application/json')
          this.got.push(JSON.parse(body) as { type: string })
        answer.writeHead(this.answer, { 'Content-Type': 'text/plain' }).end(this.answer < 300 ? '' : '<b>not today</b>')
      })
    })
    this.server = server
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    const address = server.address()
    this.address = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}/`
  }

  close(): void {
    this.server?.closeAllConnections()
    this.server?.close()
  }
}
