import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import type { Reply } from '../delivery.ts'
import { errorReply, htmlPage } from '../errors.ts'
import type { ImageRecord } from '../log.ts'
import type { PlannedFailures } from '../planned-failures.ts'
import type { Call, Outcome } from '../play.ts'
import { credentialOf, ended, fieldsOf, refusalOf, refuseLargeBody } from '../play.ts'
import type { Scenario } from '../traits.ts'
import { scenarioOf } from '../traits.ts'
import { tokensOf } from '../vectors.ts'
import { Refusal, requiredString } from '../wire.ts'
import { answerOf, linksOf } from './answer-image.ts'
import { fileOutcome } from './files.ts'
import type {
  ImageAnswer,
  ImageQuestion,
  ImageTarget,
  ImageWire,
  JobWords,
  Links,
  Written,
} from './image-wire.ts'
import { openaiImages } from './wires/openai.ts'
import type { Job, Jobs } from './jobs.ts'
import { phaseOf } from './jobs.ts'
import type { Pictures } from './pictures.ts'
import { noteOf } from './pictures.ts'
import { moderatedBy, refuseUnmakeable } from './refuse-image.ts'
import { imageWires } from './wires/all.ts'

export type Studio = { failures: PlannedFailures; pictures: Pictures; jobs: Jobs }

/** One call that is being decided. */
type Sitting = {
  call: Call
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
      scenario = scenarioOf(decodeURIComponent(prefix))
      return await fileOutcome(call, scenario, studio.pictures)
    }
    const located = wireAt(path, call.url.searchParams)
    if (located === null) return null
    wire = located.wire
    scenario = scenarioOf(decodeURIComponent(prefix))
    const { target } = located
    record.operation = target.operation
    if (call.method !== target.method) {
      throw new Refusal(405, `${call.method} is not allowed here, ${target.method} is.`)
    }
    refuseMissingCredential(wire, call.headers)
    const links = linksOf(scenario, call.headers, prefix)
    const sitting = { call, studio, scenario, wire, target, links }
    const { reply, served } =
      target.operation === 'poll' || target.operation === 'cancel'
        ? await followed(sitting, record)
        : await bought(sitting, record)
    const isPurchase = target.operation === 'generate' || target.operation === 'submit'
    const ending = isPurchase ? ended(scenario, served) : plainly
    return { scenario, wire, question: null, image: billed(record, ending.served), reply, ...ending }
  } catch (error) {
    const reply = errorReply(scenario, wire ?? openaiImages, refusalOf(error))
    return { scenario, wire, question: null, image: billed(record, false), reply, ...plainly }
  }
}

/** Polls and downloads cost nothing and come as they are: traits about the connection are for the purchase. */
const plainly = { served: false, ending: 'reply' } as const

/** Pictures that nobody is charged for are not in the books. */
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

/** A generate or a submit: the call that costs money. */
async function bought(
  { call, studio, scenario, wire, target, links }: Sitting,
  record: ImageRecord,
): Promise<Decision> {
  refuseLargeBody(scenario, call.body)
  const question = wire.read(jsonFields(call), target, call.headers)
  Object.assign(record, asked(question))
  if (scenario.has('slow-N')) await delay(scenario.amount('slow-N'))
  studio.failures.refuse(scenario, credentialOf(call.headers))
  refuseUnmakeable(scenario, wire, question)
  const charged = isCharged(scenario, wire, target)
  const answer = await answerOf(scenario, question, studio.pictures, { charged, links })
  record.pictures = answer.pictures.map(noteOf)
  const written =
    target.operation === 'submit' ? submitted(answer, wire, studio.jobs, record) : writtenBy(wire, answer)
  const reply = scenario.has('html-200')
    ? replyOf({ body: htmlPage('Welcome'), contentType: 'text/html' })
    : spoiled(scenario, replyOf(written, scenario))
  return { reply, served: charged }
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
async function followed(
  { call, studio, scenario, wire, target, links }: Sitting,
  record: ImageRecord,
): Promise<Decision> {
  if (scenario.has('poll-slow-N')) await delay(scenario.amount('poll-slow-N'))
  const jobId = target.jobId ?? requiredString(jsonFields(call), 'id')
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

function jsonFields(call: Call): Record<string, unknown> {
  const contentType = call.headers['content-type'] ?? ''
  if (/^application\/json\b/.test(contentType)) return fieldsOf(call.body)
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
