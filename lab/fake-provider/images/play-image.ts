import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import type { Reply } from '../delivery.ts'
import { errorReply, htmlPage } from '../errors.ts'
import type { Form } from '../form.ts'
import { UploadCut, type Received } from '../inbox.ts'
import type { ImageRecord } from '../log.ts'
import type { PlannedFailures } from '../planned-failures.ts'
import {
  credentialOf,
  ended,
  fieldsOf,
  refusalOf,
  refuseLargeBody,
  type Call,
  type Outcome,
} from '../play.ts'
import type { Scenario } from '../traits.ts'
import { tokensOf } from '../vectors.ts'
import { Refusal, requiredString, type Fields } from '../wire.ts'
import { answerOf, linksOf } from './answer-image.ts'
import { fileOutcome } from './files.ts'
import { partNoteOf } from './given.ts'
import type { ImageAnswer, ImageTarget, ImageWire, JobWords, Links, Written } from './image-wire.ts'
import type { ImageQuestion } from './image-question.ts'
import { openaiImages } from './wires/openai.ts'
import { phaseOf, type Job, type Jobs } from './jobs.ts'
import { painted } from './paint.ts'
import { noteOf, type Pictures } from './pictures.ts'
import { refuseGiven } from './refuse-edit.ts'
import { moderatedBy, refuseUnmakeable } from './refuse-image.ts'
import { imageWires } from './wires/all.ts'
import { fieldsOfForm } from './wires/openai-edits.ts'

export type Studio = { failures: PlannedFailures; pictures: Pictures; jobs: Jobs }

/** One call that is being decided. */
type Sitting = {
  call: Call
  received: Received
  studio: Studio
  scenario: Scenario
  wire: ImageWire
  target: ImageTarget
  links: Links
}

/** Decides everything about one call to a wire that makes pictures; null when the path is none of theirs. */
export async function playImage(call: Call, studio: Studio): Promise<Outcome | null> {
  const [, prefix = '', ...rest] = call.url.pathname.split('/')
  const path = rest.join('/')
  const record: ImageRecord = {}
  let scenario: Scenario | null = null
  let wire: ImageWire | null = null
  try {
    if (path.startsWith('_file/')) {
      scenario = call.scenario()
      return await fileOutcome(call, scenario, studio.pictures)
    }
    const located = wireAt(path, call.url.searchParams)
    if (located === null) return null
    wire = located.wire
    scenario = call.scenario()
    const { target } = located
    record.operation = target.operation
    const isPurchase = target.operation !== 'poll' && target.operation !== 'cancel'
    const received = await (isPurchase ? receivedFor(scenario, call) : call.inbox.receive())
    if (call.method !== target.method) {
      throw new Refusal(405, `${call.method} is not allowed here, ${target.method} is.`)
    }
    refuseMissingCredential(wire, call.headers)
    const links = linksOf(scenario, call.headers, prefix)
    const sitting = { call, received, studio, scenario, wire, target, links }
    const { reply, served } = isPurchase ? await bought(sitting, record) : await followed(sitting, record)
    const ending = isPurchase ? ended(scenario, served) : plainly
    return { scenario, wire, question: null, image: billed(record, ending.served), reply, ...ending }
  } catch (error) {
    if (error instanceof UploadCut) return cutOutcome(scenario, wire, record)
    if (!scenario?.has('early-refusal')) await call.inbox.receive()
    const reply = errorReply(scenario, wire ?? openaiImages, refusalOf(error))
    return { scenario, wire, question: null, image: billed(record, false), reply, ...plainly }
  }
}

/** The body of a purchase, as far as the scenario lets it come. */
async function receivedFor(scenario: Scenario, { inbox }: Call): Promise<Received> {
  if (scenario.has('early-refusal')) throw new Refusal(400, 'Refused before the body was read.')
  const cutAfterBytes = scenario.amount('cuts-upload-N')
  return await inbox.receive({ cutAfterBytes, keepsFiles: !scenario.has('hash-only') })
}

function cutOutcome(scenario: Scenario | null, wire: ImageWire | null, image: ImageRecord): Outcome {
  const reply = { status: 0, headers: {}, body: Buffer.alloc(0) }
  return { scenario, wire, question: null, image, reply, served: false, ending: 'reset' }
}

/** Polls and downloads cost nothing and come as they are: traits about the connection are for the purchase. */
const plainly = { served: false, ending: 'reply' } as const

/** Pictures without a charge are not in the log of what was served. */
function billed(record: ImageRecord, served: boolean): ImageRecord {
  return served || record.pictures === undefined ? record : { ...record, pictures: [] }
}

function wireAt(path: string, query: URLSearchParams): { wire: ImageWire; target: ImageTarget } | null {
  for (const wire of imageWires) {
    const target = wire.locate(path, query)
    if (target !== null) return { wire, target }
  }
  return null
}

function refuseMissingCredential({ credentials }: ImageWire, headers: IncomingHttpHeaders): void {
  const wanted = Object.entries(credentials)
  if (wanted.length === 0) return
  if (
    wanted.some(([name, beginning]) => String(headers[name] ?? '').startsWith(beginning) && name in headers)
  )
    return
  const names = wanted.map(([name, beginning]) => `${name}: ${beginning}…`)
  throw new Refusal(401, `No credential: send ${names.join(' or ')}`, { code: 'invalid_api_key' })
}

type Decision = { reply: Reply; served: boolean }

/** A generate, an edit or a submit: the call that costs money. */
async function bought(sitting: Sitting, record: ImageRecord): Promise<Decision> {
  const { call, studio, scenario, wire, target, links } = sitting
  refuseLargeBody(scenario, call.inbox.bytes)
  const question = read(sitting, record)
  if (scenario.has('slow-N')) await delay(scenario.amount('slow-N'))
  studio.failures.refuse(scenario, credentialOf(call.headers))
  refuseUnmakeable(scenario, wire, question)
  if (question.given !== undefined) refuseGiven(scenario, question.given)
  const canvas = await painted(scenario, question)
  if (question.given !== undefined) record.painted = canvas !== null
  if (canvas !== null) ({ width: question.width, height: question.height } = canvas)
  const charged = isCharged(scenario, wire, target)
  const answer = await answerOf(scenario, question, studio.pictures, { charged, links, canvas })
  record.pictures = answer.pictures.map(noteOf)
  const written =
    target.operation === 'submit' ? submitted(answer, wire, studio.jobs, record) : writtenBy(wire, answer)
  const reply = scenario.has('html-200')
    ? replyOf({ body: htmlPage('Welcome'), contentType: 'text/html' })
    : spoiled(scenario, replyOf(written, scenario))
  return { reply, served: charged }
}

/** The question, of which the record learns as much as could be read. */
function read(sitting: Sitting, record: ImageRecord): ImageQuestion {
  const { call, wire, target } = sitting
  const isEdit = target.operation === 'edit'
  const { fields, form } = isEdit ? editBody(sitting, record) : { fields: jsonFields(sitting), form: null }
  const question = wire.read(fields, target, call.headers, form)
  Object.assign(record, asked(question))
  if (question.given !== undefined) record.parts = question.given.parts.map(partNoteOf)
  return question
}

const picturesAndPrompt = new Set(['prompt', 'image', 'images', 'mask', 'markup'])

function editBody(sitting: Sitting, record: ImageRecord): { fields: Fields; form: Form | null } {
  const { received, scenario, wire, call } = sitting
  if (scenario.has('no-edits')) throw new Refusal(404, `Invalid URL (POST ${call.url.pathname})`)
  const takes = (wire.editBodies ?? []).filter(
    (body) => !scenario.has(body === 'json' ? 'multipart-only' : 'json-only'),
  )
  const sentAs = received.form === null ? 'json' : 'multipart'
  record.sentAs = sentAs
  if (!takes.includes(sentAs)) {
    throw new Refusal(
      415,
      `Unsupported content type '${call.headers['content-type']}': send ${takes.join(' or ')}.`,
    )
  }
  const form = formOf(received)
  if (form !== null) {
    record.parts = form.parts.map(partNoteOf)
    record.partNames = form.names
  }
  const fields = form === null ? jsonFields(sitting) : fieldsOfForm(form)
  const others = Object.entries(fields).filter(([name]) => !picturesAndPrompt.has(name))
  record.fields = Object.fromEntries(others)
  return { fields, form }
}

function formOf({ form }: Received): Form | null {
  if (form instanceof Refusal) throw form
  return form
}

function writtenBy({ name, write }: ImageWire, answer: ImageAnswer): Written {
  if (write === undefined) throw new Error(`${name} answers jobs only.`)
  return write(answer)
}

function submitted(answer: ImageAnswer, wire: ImageWire, jobs: Jobs, record: ImageRecord): Written {
  const { scenario, question, pictures, moderated, links } = answer
  const { model, prompt } = question
  const job = jobs.submit({ model, prompt, pictures: pictures.map(noteOf), moderated })
  record.jobId = job.id
  return jobsOf(wire).accept(job, phaseOf(scenario, job), links)
}

/** A poll or a cancel. */
async function followed(sitting: Sitting, record: ImageRecord): Promise<Decision> {
  const { studio, scenario, wire, target, links } = sitting
  if (scenario.has('poll-slow-N')) await delay(scenario.amount('poll-slow-N'))
  const jobId = target.jobId ?? requiredString(jsonFields(sitting), 'id')
  record.jobId = jobId
  const job = studio.jobs.find(jobId) ?? null
  if (job !== null) {
    record.model = job.model
    if (target.operation === 'cancel') job.canceled = true
    else job.polls += 1
  }
  refusePoll(scenario, job)
  const phase = job === null ? 'failed' : phaseOf(scenario, job)
  return { reply: replyOf(jobsOf(wire).progress(job, phase, links, target)), served: false }
}

function refusePoll(scenario: Scenario, job: Job | null): void {
  const status = scenario.amount('poll-status-N')
  if (status !== undefined) throw new Refusal(status, `Polls of the scenario answer ${status}.`)
  const failing = scenario.amount('poll-fails-first-N') ?? 0
  if (job !== null && job.polls <= failing) throw new Refusal(500, `The first ${failing} polls fail.`)
}

function jobsOf({ name, jobs }: ImageWire): JobWords {
  if (jobs === undefined) throw new Error(`${name} locates jobs but has none.`)
  return jobs
}

function jsonFields({ call, received }: Sitting): Fields {
  const contentType = call.headers['content-type'] ?? ''
  if (/^application\/json\b/.test(contentType)) return fieldsOf(received.body)
  throw new Refusal(415, `Unsupported content type '${contentType}': send application/json.`)
}

function asked(question: ImageQuestion): ImageRecord {
  const { model, prompt, n, size } = question
  const promptSha256 = createHash('sha256').update(prompt).digest('hex')
  return { model, promptSha256, n, size, tokens: tokensOf(prompt), pictures: [] }
}

/** A picture that moderation withheld or a job that failed is not billed; one with a mark is. */
function isCharged(scenario: Scenario, wire: ImageWire, { operation }: ImageTarget): boolean {
  if (operation === 'submit' && scenario.has('job-fails')) return false
  return moderatedBy(scenario) === null || wire.moderation === 'marks'
}

function replyOf(
  { status = 200, contentType = 'application/json', body, headers, ...written }: Written,
  scenario?: Scenario,
): Reply {
  const events = written.events?.map((event) => Buffer.from(event))
  const reply = {
    status,
    headers: { 'content-type': contentType, ...headers },
    body: events === undefined ? Buffer.from(body) : Buffer.concat(events),
  }
  if (events === undefined) return reply
  const gapMs = scenario?.amount('event-gap-N') ?? 0
  return { ...reply, stream: { events, gapMs, cut: written.cut ?? false } }
}

function spoiled(scenario: Scenario, reply: Reply): Reply {
  if (!scenario.has('garbage')) return reply
  const body = Buffer.concat([Buffer.from('%'), reply.body.subarray(1)])
  return { status: reply.status, headers: reply.headers, body }
}
