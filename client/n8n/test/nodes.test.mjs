import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { after, before, test } from 'node:test'
import { context } from './context.mjs'
import { startDateline, until } from './program.mjs'

const require = createRequire(import.meta.url)
const { Dateline } = require('../dist/nodes/Dateline/Dateline.node.js')
const { DatelineTrigger } = require('../dist/nodes/DatelineTrigger/DatelineTrigger.node.js')
const { DatelineApi } = require('../dist/credentials/DatelineApi.credentials.js')
const { authenticate } = new DatelineApi()

let program
let credentials
const received = createServer()

before(async () => {
  await new Promise((done) => received.listen(0, '127.0.0.1', done))
  program = await startDateline({ DATELINE_ALLOW_PRIVATE_HOSTS: `127.0.0.1:${received.address().port}` })
  credentials = { url: `${program.url}/`, token: program.token }
}, { timeout: 300_000 })
after(async () => {
  await program?.stop()
  received.closeAllConnections()
  received.close()
})

const run = async (parameters, more = {}) => {
  const [out] = await new Dateline().execute.call(context({ credentials, authenticate, parameters, ...more }))
  return out.map((one) => one.json)
}

test('schedules a post once, reads, lists and cancels it', async () => {
  const when = new Date(Date.now() + 3_600_000).toISOString()
  const parameters = { resource: 'post', operation: 'schedule', content: 'Good morning', scheduledTime: when, idempotencyKey: 'execution-1-0' }
  const [post] = await run(parameters)
  const [again] = await run(parameters)
  assert.equal(again.id, post.id)
  assert.equal(post.status, 'scheduled')
  const [read] = await run({ resource: 'post', operation: 'get', postId: post.id })
  assert.equal(read.content, 'Good morning')
  const listed = await run({ resource: 'post', operation: 'getAll', status: ['scheduled'], limit: 200 })
  assert.deepEqual(listed.map((p) => p.id), [post.id])
  const [canceled] = await run({ resource: 'post', operation: 'cancel', postId: post.id })
  assert.equal(canceled.status, 'canceled')
})

test('uploads a file and attaches it to a draft', async () => {
  const content = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==', 'base64')
  const files = { data: { binary: { mimeType: 'image/png', fileName: 'dot.png' }, content } }
  const [media] = await run({ resource: 'media', operation: 'upload', binaryProperty: 'data', altText: 'A dot' }, { files })
  assert.equal(media.alt_text, 'A dot')
  const [draft] = await run({ resource: 'post', operation: 'schedule', draft: true, content: 'With a picture', attachments: ` ${media.id}, ` })
  assert.equal(draft.status, 'draft')
})

test('searches articles and reports on a site', async () => {
  assert.deepEqual(await run({ resource: 'article', operation: 'search', query: 'gold', limit: 5 }), [])
  const send = { method: 'POST', headers: { Authorization: `Bearer ${program.token}`, 'Content-Type': 'application/json' } }
  const site = await (await fetch(`${program.url}/api/v1/sites`, { ...send, body: JSON.stringify({ name: 'News', domains: ['news.example'], time_zone: 'UTC' }) })).json()
  const choices = await new Dateline().methods.loadOptions.sites.call(context({ credentials, authenticate }))
  const chosen = choices.find((c) => c.name === 'News')
  assert.ok(chosen, JSON.stringify([site, choices]))
  const day = new Date().toISOString()
  const [report] = await run({ resource: 'site', operation: 'report', siteId: chosen.value, from: day, to: day })
  assert.equal(report.period.totals.views, 0, JSON.stringify(report))
  const accounts = await new Dateline().methods.loadOptions.accounts.call(context({ credentials, authenticate }))
  assert.ok(accounts.length > 0)
})

test('shows the reason of a refused request', async () => {
  await assert.rejects(run({ resource: 'post', operation: 'get', postId: '00000000-0000-0000-0000-000000000000' }), /does not exist/)
  const [failed] = await run({ resource: 'post', operation: 'schedule', content: 'x', scheduledTime: 'yesterday-ish' }, { continueOnFail: () => true })
  assert.match(failed.error, /invalid/i)
})

test('the trigger subscribes, verifies deliveries and unsubscribes', async () => {
  const trigger = new DatelineTrigger()
  const staticData = {}
  const webhookUrl = `http://127.0.0.1:${received.address().port}/webhook`
  const hook = () => context({ credentials, authenticate, staticData, webhookUrl, parameters: { types: ['post.posted', 'post.failed'] } })
  const { checkExists, create, delete: remove } = trigger.webhookMethods.default
  assert.equal(await checkExists.call(hook()), false)
  assert.equal(await create.call(hook()), true)
  assert.equal(await checkExists.call(hook()), true)

  const deliveries = []
  received.on('request', (request, response) => {
    const parts = []
    request.on('data', (part) => parts.push(part))
    request.on('end', () => {
      deliveries.push({ headers: request.headers, body: Buffer.concat(parts) })
      response.writeHead(204).end()
    })
  })
  const answer = await fetch(`${program.url}/api/v1/webhooks/${staticData.webhookId}/test`, { method: 'POST', headers: { Authorization: `Bearer ${program.token}` } })
  assert.equal(answer.status, 202)
  await until('the delivery', () => deliveries.length > 0)

  const deliver = async ({ headers, body }) => {
    let status = 200
    const response = { status: (code) => ((status = code), response), json: () => response }
    const result = await trigger.webhook.call(context({ credentials, authenticate, staticData, getHeaderData: () => headers, getRequestObject: () => ({ rawBody: body }), getResponseObject: () => response }))
    return { status, result }
  }
  const [delivery] = deliveries
  const accepted = await deliver(delivery)
  assert.equal(accepted.result.workflowData[0][0].json.type, 'webhook.test')
  assert.equal(accepted.result.workflowData[0][0].json.webhook_id, delivery.headers['webhook-id'])
  for (const changed of [
    { ...delivery, body: Buffer.concat([delivery.body, Buffer.from(' ')]) },
    { ...delivery, headers: { ...delivery.headers, 'webhook-timestamp': '1600000000' } },
    { ...delivery, headers: { ...delivery.headers, 'webhook-signature': 'v1,AAAA' } },
    { ...delivery, headers: {} },
  ]) {
    const refused = await deliver(changed)
    assert.equal(refused.status, 401)
    assert.equal(refused.result.workflowData, undefined)
  }
  assert.equal(await remove.call(hook()), true)
  assert.deepEqual(staticData, {})
})
