/** openai-node's files, uploads, batches and webhooks; the argument names which of the installed versions. */
import { createHash } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { answerCases, describeOpenai } from './protocol.js'

const { default: OpenAI, toFile } = await import(process.argv[2])

const ENDED = new Set(['completed', 'failed', 'expired', 'cancelled'])
const LOOK_MS = 200

const works = { run, cancel, pages, parts, files, missing, unwrap }

await answerCases((asked) => {
  const { baseUrl, apiKey } = asked
  return works[asked.work](new OpenAI({ baseURL: baseUrl, apiKey, maxRetries: 0 }), asked)
}, describeOpenai)

async function run(client, { lines, endpoint }) {
  return results(client, await created(client, await uploaded(client, lines), endpoint))
}

async function cancel(client, { lines, endpoint }) {
  const batch = await created(client, await uploaded(client, lines), endpoint)
  const { status } = await client.batches.cancel(batch.id)
  return { ...(await results(client, batch)), afterCancel: status }
}

async function pages(client, { lines, endpoint }) {
  const file = await uploaded(client, lines)
  const made = []
  for (let count = 0; count < 5; count += 1) made.push((await created(client, file, endpoint)).id)
  const listed = []
  for await (const { id } of client.batches.list({ limit: 2 })) listed.push(id)
  return { made, listed }
}

async function parts(client, { lines, endpoint }) {
  const bytes = Buffer.from(lines)
  const upload = await client.uploads.create({
    filename: 'lines.jsonl',
    purpose: 'batch',
    bytes: bytes.length,
    mime_type: 'application/jsonl',
  })
  const half = Math.ceil(bytes.length / 2)
  const ids = []
  for (const piece of [bytes.subarray(0, half), bytes.subarray(half)]) {
    const part = await client.uploads.parts.create(upload.id, { data: await toFile(piece, 'part') })
    ids.push(part.id)
  }
  const md5 = createHash('md5').update(bytes).digest('hex')
  const { file } = await client.uploads.complete(upload.id, { part_ids: ids, md5 })
  return results(client, await created(client, file.id, endpoint))
}

async function files(client, { lines }) {
  const id = await uploaded(client, lines)
  const { filename, purpose, status } = await client.files.retrieve(id)
  const content = await (await client.files.content(id)).text()
  const listed = []
  for await (const file of client.files.list({ limit: 2 })) listed.push(file.id)
  const { deleted } = await client.files.delete(id)
  return { made: [id], listed, content, report: `${filename} ${purpose} ${status} ${deleted}` }
}

async function missing(client) {
  return { report: (await client.batches.retrieve('batch_missing')).status }
}

async function unwrap(client, { body, headers, secret }) {
  const { type, data } = await client.webhooks.unwrap(body, headers, secret)
  return { report: `${type} ${data.id}` }
}

async function uploaded(client, lines) {
  const file = await toFile(Buffer.from(lines), 'lines.jsonl')
  return (await client.files.create({ file, purpose: 'batch' })).id
}

function created(client, fileId, endpoint) {
  return client.batches.create({ input_file_id: fileId, endpoint, completion_window: '24h' })
}

async function results(client, { id }) {
  let batch = await client.batches.retrieve(id)
  while (!ENDED.has(batch.status)) {
    await wait(LOOK_MS)
    batch = await client.batches.retrieve(id)
  }
  const { status, request_counts: counts, errors } = batch
  const textOf = async (fileId) => (fileId ? (await client.files.content(fileId)).text() : '')
  return {
    status,
    counts: [counts.total, counts.completed, counts.failed],
    errors: (errors?.data ?? []).map(({ code, line }) => `${code} ${line}`),
    output: await textOf(batch.output_file_id),
    refused: await textOf(batch.error_file_id),
  }
}
