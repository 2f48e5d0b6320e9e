import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { test } from 'node:test'

const require = createRequire(import.meta.url)
const { Webhook } = require('standardwebhooks')
const { refusal } = require('../dist/nodes/DatelineTrigger/verify.js')

test('verifies what the library of Standard Webhooks signs', () => {
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
  const at = new Date()
  const body = '{"type":"post.posted","title":"Giá vàng"}'
  const headers = { id: 'msg_1', timestamp: String(Math.floor(at.getTime() / 1000)), signature: new Webhook(secret).sign('msg_1', at, body) }
  assert.equal(refusal(secret, headers, Buffer.from(body)), undefined)
  assert.equal(refusal(secret, { ...headers, signature: `v1,AAAA v2,x ${headers.signature}` }, Buffer.from(body)), undefined)
  assert.match(refusal('whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD', headers, Buffer.from(body)), /wrong/)
  assert.match(refusal(secret, headers, Buffer.from(body), at.getTime() / 1000 + 301), /five minutes/)
  assert.match(refusal(secret, { ...headers, timestamp: '1e9' }, Buffer.from(body)), /five minutes|missing/)
})
