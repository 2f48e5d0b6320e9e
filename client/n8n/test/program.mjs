import { spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const root = new URL('../../..', import.meta.url).pathname

const freePort = () =>
  new Promise((done) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => done(String(port)))
    })
  })

/** Starts the real program with engines and a data directory of its own. */
export async function startDateline(env = {}) {
  const dir = mkdtempSync(join(tmpdir(), 'dateline-n8n-'))
  chmodSync(dir, 0o755) // as root, the program switches to another user
  const ports = {}
  for (const name of ['TEMPORAL', 'TEMPORAL_UI', 'POSTGRES', 'REDIS', 'S3']) ports[`DATELINE_${name}_PORT`] = await freePort()
  const child = spawn(join(root, 'bin/dateline'), ['up'], {
    cwd: root,
    env: {
      ...process.env,
      DATELINE_DATA_DIR: join(dir, 'data'),
      DATELINE_API_ADDR: `127.0.0.1:${await freePort()}`,
      DATELINE_SANDBOX_ADDR: `127.0.0.1:${await freePort()}`,
      DATELINE_METRICS_ADDR: 'off',
      ...ports,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  child.stderr.on('data', (part) => (output += part))
  await new Promise((done, failed) => {
    child.once('exit', (code) => failed(new Error(`dateline ended with ${code}\n${output}`)))
    child.stdout.on('data', (part) => {
      output += part
      if (output.includes('Stop with')) done()
    })
  })
  const find = (pattern) => pattern.exec(output)?.[1] ?? ''
  const url = find(/API\s+(http:\/\/\S+)\/api\/v1/)
  await until('the program to be ready', async () => (await fetch(`${url}/readyz`)).ok)
  return {
    url,
    token: find(/API token\s+(dl_\S+)/),
    async stop() {
      const ended = new Promise((done) => child.once('exit', done))
      child.kill('SIGINT')
      await ended
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

export async function until(what, check) {
  for (const end = Date.now() + 60_000; Date.now() < end; await new Promise((done) => setTimeout(done, 100))) {
    if (await Promise.resolve(check()).catch(() => false)) return
  }
  throw new Error(`timed out waiting for ${what}`)
}
