/** Drafts of batches: a file of rows, what a batch of it would cost, and the batch. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { SEPARATORS } from '#core/corpus/format.ts'
import { decimalOf } from '#core/money/price.ts'
import { VECTOR_FILE_FORMATS } from '#ports/vector-files.ts'
import { ArrivingDraft, type ReadDraft } from '#request/batches/arriving-draft.ts'
import { controlBounds } from '#http/gate/bounds.ts'
import { refuseCharset, refuseCompressed } from '#http/gate/encoding.ts'
import { inviteBody } from '#http/gate/unread.ts'
import { IncomingBytes } from '#http/gateway/uploads/incoming-bytes.ts'
import { batchBody, reportedBatch } from '../shared/batch-fields.ts'
import { playgroundKey } from '#core/access/actor.ts'
import { actorIn, callerIn, playerOf, visibleProjects } from '../shared/caller.ts'
import { notFound } from '../shared/faults.ts'
import { name, noContent, storable, time, usd } from '../shared/fields.ts'
import type { ControlNode } from '../shared/node.ts'
import { priceBody, priceText } from '../shared/price-text.ts'
import { projectTerms } from '../shared/project-terms.ts'
import { route, type Api } from '../shared/route.ts'
import { isoOf } from '../shared/times.ts'
import { Drafts, type DraftNode, type Judgement } from './open.ts'
import { budgetBody, estimatedPrice, exceededBy } from './rules.ts'

const COLUMN_CHARACTERS = 500
const MAX_WINDOW_HOURS = 168
const MAX_DIMENSIONS = 100_000
/** Bytes of a number of a vector. */
const NUMBER_BYTES = 4

const draftQuery = z.strictObject({
  project: name.describe('The project that pays, and whose storage the file takes.'),
  name: storable(200)
    .min(1)
    .describe('The name of the file. Its ending says what it is: .csv, .tsv, .jsonl or .ndjson.'),
  header: z
    .enum(['true', 'false'])
    .default('true')
    .describe('Whether the first line of a CSV names its columns.'),
})

const draftPath = z.object({ id: storable(80) })

const draftColumn = z.object({
  name: z.string(),
  filled: z.int().describe('Rows with a value in it.'),
  empty: z.int(),
  longest_bytes: z.int(),
  duplicates: z
    .int()
    .nullable()
    .describe('Values that are there more than once, beyond the first of each. null: too many to compare.'),
})

const batchDraft = z
  .object({
    id: z.string(),
    project: z.string(),
    name: z.string(),
    format: z.enum(['csv', 'jsonl']),
    delimiter: z.enum(SEPARATORS).nullable(),
    has_header: z.boolean(),
    bytes: z.int(),
    rows: z.int(),
    columns: z.array(draftColumn),
    preview: z
      .array(z.array(z.string()))
      .describe('The first five rows, cell by cell, each cut after 200 characters.'),
    text_column: z.string().nullable().describe('The column that usually holds the texts.'),
    id_column: z.string().nullable(),
    created_at: time,
    expires_at: time,
  })
  .meta({ id: 'BatchDraft' })

const draftOptions = z
  .strictObject({
    model: storable(200).min(1),
    text_column: storable(COLUMN_CHARACTERS),
    id_column: storable(COLUMN_CHARACTERS).nullable().default(null),
    bad_rows: z
      .enum(['skip', 'truncate', 'stop'])
      .default('skip')
      .describe(
        'What happens to rows that have no text, or one that is too long. `truncate` skips those without a text.',
      ),
    dimensions: z
      .int()
      .min(1)
      .max(MAX_DIMENSIONS)
      .nullable()
      .default(null)
      .describe('null: as many as the model makes.'),
    key: storable(200)
      .nullable()
      .default(null)
      .describe(
        'The key of the project that it runs under, such as `search/indexer`. null: under your own name, as the playground.',
      ),
    window_hours: z.int().min(1).max(MAX_WINDOW_HOURS).default(24),
    output: z
      .enum(VECTOR_FILE_FORMATS)
      .nullable()
      .default(null)
      .describe('The format that you want to download. It is kept in the metadata of the batch.'),
  })
  .meta({
    id: 'BatchDraftOptions',
    examples: [{ model: 'demo-embed', text_column: 'body', id_column: 'id', bad_rows: 'skip' }],
  })

const batchEstimate = z
  .object({
    rows: z.int(),
    lines: z
      .int()
      .describe('Rows that become lines of the batch. Each line is bought, also one that repeats.'),
    empty: z.int(),
    too_long: z
      .int()
      .nullable()
      .describe('An estimate, unless `tokens.basis` is `counted`. null: only the upstream knows.'),
    duplicates: z.int().nullable(),
    tokens: z.object({
      value: z.int(),
      low: z.int(),
      high: z.int(),
      basis: z
        .enum(['counted', 'sampled', 'estimated'])
        .describe(
          '`counted`: every text. `sampled`: some, and their average. `estimated`: without the tokenizer of the model.',
        ),
    }),
    dimensions: z.int(),
    space: z.string().nullable(),
    max_input_tokens: z.int().nullable(),
    price: z.array(priceText),
    vector_bytes: z.int().describe('The size of all vectors as float32.'),
    plans: z.array(
      z.object({
        plan: z.literal('live'),
        usd: usd.nullable().describe('null: the model has no price.'),
        usd_high: usd.nullable(),
        seconds: z
          .object({ low: z.int(), high: z.int() })
          .nullable()
          .describe('From earlier batches of the model. null: there is none.'),
        lines_per_second: z.number().nullable(),
      }),
    ),
    budgets: z.array(
      z.object({
        id: z.string(),
        scope: z.enum(['project', 'key']),
        name: z.string(),
        per: z.enum(['day', 'week', 'month', 'total']),
        hard: z.boolean(),
        limit_usd: usd,
        left_usd: usd,
        ends_at: time.nullable(),
      }),
    ),
    exceeds: z
      .object({ budget: z.string(), by_usd: usd })
      .nullable()
      .describe('The hard budget that it does not fit.'),
    problems: z.array(z.object({ code: z.string(), text: z.string(), param: z.string().nullable() })),
    can_run: z.boolean(),
  })
  .meta({ id: 'BatchEstimate' })

type DraftsNode = DraftNode & Pick<ControlNode, 'keyStore' | 'declaredProjects' | 'limits'>

export function registerBatchDrafts(api: Api, node: DraftsNode): void {
  const drafts = new Drafts(node)

  route(api, 'POST /batch-drafts', {
    permission: 'batches.create',
    id: 'createBatchDraft',
    summary: 'Send a file of rows as CSV or JSONL; the answer says what is in it',
    consumes: ['text/csv', 'application/x-ndjson', 'text/plain'],
    query: draftQuery,
    body: z.unknown().describe('The bytes of the file, in UTF-8.'),
    answers: { 201: batchDraft },
    faults: [400, 403, 404, 408, 413, 415, 429, 503],
    answering: 'playground',
    handler: async (request, reply) => {
      const { project } = request.query
      visibleProjects(callerIn(request), project)
      if ((await projectTerms(project, node)) === undefined) throw notFound(`There is no project ${project}.`)
      const read = await receiveDraft(request, reply, request.query, node)
      return reply.code(201).send(draftBody(read))
    },
  })

  route(api, 'GET /batch-drafts/:id', {
    permission: 'batches.create',
    id: 'getBatchDraft',
    summary: 'A file that you sent within the last 24 hours',
    params: draftPath,
    answer: batchDraft,
    handler: async (request) => draftBody(await drafts.found(request.params.id, callerIn(request))),
  })

  route(api, 'DELETE /batch-drafts/:id', {
    permission: 'batches.create',
    id: 'deleteBatchDraft',
    summary: 'Delete a file that you sent. Batches made of it go on',
    params: draftPath,
    answers: { 204: noContent },
    handler: async (request, reply) => {
      const { id } = request.params
      const isDeleted = await node.forDrafts.drafts.delete(id, callerIn(request).actor)
      if (!isDeleted) throw notFound(`There is no draft ${id}.`)
      return reply.code(204).send()
    },
  })

  route(api, 'POST /batch-drafts/:id/estimate', {
    permission: 'batches.create',
    id: 'estimateBatchDraft',
    summary: 'What a batch of these options would cost, how long it would take, and why it cannot run',
    params: draftPath,
    body: draftOptions,
    answer: batchEstimate,
    faults: [400, 403, 404, 429, 503],
    answering: 'playground',
    handler: async (request) => {
      const caller = callerIn(request)
      const read = await drafts.found(request.params.id, caller)
      return estimateBody(await drafts.judge(read, request.body, caller), node.clock.nowMs())
    },
  })

  route(api, 'POST /batch-drafts/:id/run', {
    permission: 'batches.create',
    id: 'runBatchDraft',
    summary: 'Make a batch of a draft. The same options again are the same batch',
    params: draftPath,
    body: draftOptions,
    answers: { 201: reportedBatch },
    faults: [400, 403, 404, 409, 413, 429, 503],
    answering: 'playground',
    handler: async (request, reply) => {
      const caller = callerIn(request)
      const read = await drafts.found(request.params.id, caller)
      const batch = await drafts.run(read, request.body, caller, actorIn(request))
      return reply.code(201).send(batchBody(batch))
    },
  })
}

async function receiveDraft(
  request: FastifyRequest,
  reply: FastifyReply,
  { project, name: fileName, header }: z.output<typeof draftQuery>,
  { forDrafts, limits }: DraftsNode,
): Promise<ReadDraft> {
  refuseCompressed(request.raw)
  refuseCharset(request.headers['content-type'] ?? '')
  const caller = callerIn(request)
  const body = new IncomingBytes(request.raw, {
    ...controlBounds(limits)['POST /batch-drafts'].form,
    idleMs: limits.uploadIdleMs,
  })
  const announcedBytes = Number(request.headers['content-length'] ?? 0)
  const owner = { id: `${project}/${playgroundKey(playerOf(caller))}`, project }
  const wish = { name: fileName, hasHeader: header === 'true', actor: caller.actor }
  const arriving = await ArrivingDraft.begin(owner, announcedBytes, wish, forDrafts)
  try {
    inviteBody(request.raw, reply.raw)
    for (let chunk = await body.next(); chunk !== undefined; chunk = await body.next())
      await arriving.write(chunk)
    return await arriving.complete()
  } catch (error) {
    await arriving.discard()
    throw error
  } finally {
    body.release()
  }
}

function draftBody({ draft, profile }: ReadDraft): z.input<typeof batchDraft> {
  const { format, rows, columns, preview, usual } = profile
  return {
    id: draft.id,
    project: draft.project,
    name: draft.name,
    format: format.kind,
    delimiter: format.kind === 'csv' ? (format.separator as (typeof SEPARATORS)[number]) : null,
    has_header: format.kind === 'csv' && format.hasHeader,
    bytes: draft.bytes,
    rows,
    columns: columns.map((column) => ({
      name: column.name,
      filled: column.filled,
      empty: rows - column.filled,
      longest_bytes: column.longestBytes,
      duplicates: column.duplicates ?? null,
    })),
    preview: preview.map((cells) => [...cells]),
    text_column: usual.text ?? null,
    id_column: usual.id ?? null,
    created_at: isoOf(draft.createdAtMs),
    expires_at: isoOf(draft.expiresAtMs),
  }
}

function estimateBody(judged: Judgement, nowMs: number): z.input<typeof batchEstimate> {
  const { estimate, cost, budgets, problems, seconds, linesPerSecond, model, dimensions } = judged
  const price = estimatedPrice(model)
  const exceeded = exceededBy(cost.nanoUsd, budgets)
  return {
    rows: judged.rows,
    lines: estimate.lines,
    empty: estimate.empty,
    too_long: estimate.tooLong ?? null,
    duplicates: judged.column.duplicates ?? null,
    tokens: { value: estimate.tokens, low: estimate.low, high: estimate.high, basis: estimate.basis },
    dimensions,
    space: judged.space ?? null,
    max_input_tokens: model.facts.maxInputTokens ?? null,
    price: price === undefined ? [] : priceBody(price),
    vector_bytes: estimate.lines * dimensions * NUMBER_BYTES,
    plans: [
      {
        plan: 'live',
        usd: cost.nanoUsd === undefined ? null : decimalOf(cost.nanoUsd),
        usd_high: cost.highNanoUsd === undefined ? null : decimalOf(cost.highNanoUsd),
        seconds: seconds ?? null,
        lines_per_second: linesPerSecond === undefined ? null : Math.round(linesPerSecond * 10) / 10,
      },
    ],
    budgets: budgets.map((budget) => budgetBody(budget, nowMs)),
    exceeds: exceeded ? { budget: exceeded.budget.id, by_usd: decimalOf(exceeded.byNanoUsd) } : null,
    problems: [...problems],
    can_run: problems.length === 0,
  }
}
