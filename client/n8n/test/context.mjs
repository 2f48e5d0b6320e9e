/**
 * What n8n gives to a node: the parameters, the credentials and helpers. Requests are sent
 * as n8n sends them: authenticated as the credential's class says, JSON in and out, and an
 * error with the response for statuses of failures.
 */
export function context({ credentials, authenticate, parameters = {}, items = [{ json: {} }], files = {}, staticData = {}, webhookUrl = '', ...more }) {
  return {
    getInputData: () => items,
    getNode: () => ({ name: 'Dateline', type: 'n8n-nodes-dateline.dateline', typeVersion: 1, parameters: {} }),
    getNodeParameter: (name, item, fallback) => (typeof item === 'number' ? parameters[name] ?? fallback : parameters[name]),
    getCredentials: async () => credentials,
    getWorkflowStaticData: () => staticData,
    getNodeWebhookUrl: () => webhookUrl,
    continueOnFail: () => false,
    helpers: {
      async httpRequestWithAuthentication(type, { method, url, qs = {}, headers = {}, body, json }) {
        if (type !== 'datelineApi') throw new Error(`unknown credentials ${type}`)
        const address = new URL(url)
        for (const [name, value] of Object.entries(qs)) address.searchParams.set(name, String(value))
        const own = Object.fromEntries(Object.entries(authenticate.properties.headers).map(([name, value]) => [name, value.replace(/^=/, '').replace('{{$credentials.token}}', credentials.token)]))
        const isForm = body instanceof FormData
        const answer = await fetch(address, {
          method,
          headers: { ...headers, ...own, ...(body && !isForm ? { 'Content-Type': 'application/json' } : {}) },
          body: body && !isForm ? JSON.stringify(body) : body,
        })
        const text = await answer.text()
        const data = text && /json/.test(answer.headers.get('content-type') ?? '') ? JSON.parse(text) : text
        if (!answer.ok) throw Object.assign(new Error(`Request failed with status code ${answer.status}`), { response: { status: answer.status, data }, httpCode: String(answer.status) })
        return data
      },
      returnJsonArray: (data) => (Array.isArray(data) ? data : [data]).map((json) => ({ json })),
      constructExecutionMetaData: (list, { itemData }) => list.map((one) => ({ ...one, pairedItem: itemData })),
      assertBinaryData: (_item, field) => files[field].binary,
      getBinaryDataBuffer: async (_item, field) => files[field].content,
    },
    ...more,
  }
}
