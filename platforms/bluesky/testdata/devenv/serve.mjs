// Runs the network's own server until standard input ends, and beside it what
// the network's own library says of texts: POST /richtext with a list of texts.
import http from 'node:http'
import { RichText } from '@atproto/api'
import { TestNetworkNoAppView } from '@atproto/dev-env'

const network = await TestNetworkNoAppView.create({ pds: { rateLimitsEnabled: true } })

const richText = (text) => {
  const rich = new RichText({ text })
  rich.detectFacetsWithoutResolution()
  return {
    graphemes: rich.graphemeLength,
    facets: (rich.facets ?? []).map(({ index, features: [f] }) => ({
      start: index.byteStart,
      end: index.byteEnd,
      target: f.uri ?? f.did ?? f.tag,
    })),
  }
}

const library = http.createServer(async (req, res) => {
  let body = ''
  for await (const part of req) body += part
  res.setHeader('Content-Type', 'application/json')
  res.end(JSON.stringify(JSON.parse(body).map(richText)))
})
await new Promise((resolve) => library.listen(0, '127.0.0.1', resolve))

process.stdin.on('end', async () => {
  library.close()
  await network.close()
  process.exit(0)
})
process.stdin.resume()

console.log('READY ' + JSON.stringify({
  pds: network.pds.url,
  plc: network.plc.url,
  library: `http://127.0.0.1:${library.address().port}`,
}))
