// Writes the types of the API from its description. A file that is up to date
// keeps its time, or make would rebuild the dashboard.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import openapiTS, { astToString, COMMENT_HEADER } from 'openapi-typescript'

const types = new URL('../src/api/schema.d.ts', import.meta.url)
const schema = await openapiTS(new URL('../../api/openapi.yaml', import.meta.url), { defaultNonNullable: false })
const text = COMMENT_HEADER + astToString(schema)
if (!existsSync(types) || readFileSync(types, 'utf8') !== text) writeFileSync(types, text)
