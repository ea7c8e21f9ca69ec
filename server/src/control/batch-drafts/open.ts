/** Drafts of batches: who may use which, what a batch of one would take, and the batch itself. */
import { playgroundKey } from '#core/access/actor.ts'
import type { EmbeddingModel } from '#core/catalog/catalog.ts'
import { estimateCorpus, type BadRows, type CorpusEstimate } from '#core/corpus/estimate.ts'
import type { ColumnProfile, CorpusProfile } from '#core/corpus/profile.ts'
import { Fault } from '#core/fault/fault.ts'
import { windowOf } from '#core/money/budget.ts'
import type { Actor } from '#ports/audit.ts'
import type { BatchDraft } from '#ports/batch-drafts.ts'
import type { Batch } from '#ports/batches.ts'
import type { Key } from '#ports/keys.ts'
import type { VectorFileFormat } from '#ports/vector-files.ts'
import { findEmbeddingModel } from '#request/access/find-model.ts'
import { keyNow } from '#request/access/terms-now.ts'
import { profileOf, type ReadDraft } from '#request/batches/arriving-draft.ts'
import { countSample } from '#request/batches/count-sample.ts'
import { runDraft } from '#request/batches/run-draft.ts'
import { checkScope } from '#http/gateway/caller/key-bounds.ts'
import { playerOf, type Caller } from '../shared/caller.ts'
import { invalidField, notFound } from '../shared/faults.ts'
import type { ControlNode } from '../shared/node.ts'
import { HOUR_MS } from '../shared/times.ts'
import { speedsOf } from './queries.ts'
import {
  costRange,
  duration,
  problemsWith,
  type CostRange,
  type Problem,
  type Seconds,
  type SpentBudget,
} from './rules.ts'

export type DraftNode = Pick<
  ControlNode,
  'forDrafts' | 'terms' | 'spending' | 'catalog' | 'clock' | 'reports' | 'nameSpace' | 'embedOutside'
>

/** What a person chose for a batch of a draft. */
export interface DraftOptions {
  readonly model: string
  readonly text_column: string
  readonly id_column: string | null
  readonly bad_rows: BadRows
  readonly dimensions: number | null
  readonly key: string | null
  readonly window_hours: number
  readonly output: VectorFileFormat | null
}

/** What a batch of these options would be. */
export interface Judgement {
  readonly key: Key
  readonly model: EmbeddingModel
  readonly rows: number
  readonly column: ColumnProfile
  readonly dimensions: number
  readonly space: string | undefined
  readonly estimate: CorpusEstimate
  readonly cost: CostRange
  readonly seconds: Seconds | undefined
  /** Of the slowest of the last batches. */
  readonly linesPerSecond: number | undefined
  readonly budgets: readonly SpentBudget[]
  readonly problems: readonly Problem[]
}

export class Drafts {
  readonly #node: DraftNode
  /** Runs in progress on this node, so that a second click waits for the first. */
  readonly #running = new Map<string, Promise<Batch>>()

  constructor(node: DraftNode) {
    this.#node = node
  }

  /** Only the person who sent it sees its texts. */
  async found(id: string, caller: Caller): Promise<ReadDraft> {
    const { drafts, fileBlobs } = this.#node.forDrafts
    const draft = await drafts.find(id, caller.actor)
    if (draft === undefined || (caller.projects !== null && !caller.projects.includes(draft.project)))
      throw notFound(`There is no draft ${id}. Drafts are kept for 24 hours.`)
    return { draft, profile: await profileOf(id, fileBlobs) }
  }

  async judge({ draft, profile }: ReadDraft, options: DraftOptions, caller: Caller): Promise<Judgement> {
    const { catalog, reports, nameSpace } = this.#node
    const key = await this.#keyFor(draft, options, caller)
    checkScope(key, 'embeddings')
    const model = findEmbeddingModel(options.model, key, catalog())
    const column = columnOf(profile, options.text_column, 'text_column')
    if (options.id_column !== null) columnOf(profile, options.id_column, 'id_column')
    const estimate = await this.#estimate(draft, profile, column, model, options)
    const [speeds, budgets] = await Promise.all([speedsOf(reports, options.model), this.#spent(key)])
    const cost = costRange(model, estimate)
    const dimensions = options.dimensions ?? model.facts.dimensions
    return {
      key,
      model,
      rows: profile.rows,
      column,
      dimensions,
      space: nameSpace(model, dimensions),
      estimate,
      cost,
      seconds: duration(estimate.lines, speeds),
      linesPerSecond: speeds[0],
      budgets,
      problems: problemsWith({
        model,
        dimensions: options.dimensions ?? undefined,
        badRows: options.bad_rows,
        estimate,
        nanoUsd: cost.nanoUsd,
        budgets,
      }),
    }
  }

  /** The same options again are the same batch. */
  async run(read: ReadDraft, options: DraftOptions, caller: Caller, by: Actor): Promise<Batch> {
    const { key, model, problems } = await this.judge(read, options, caller)
    const [problem] = problems
    if (problem)
      throw new Fault(problem.code as Fault['code'], problem.text, { param: problem.param ?? undefined })
    const name = `${read.draft.id} ${key.id} ${JSON.stringify(options)}`
    const running = this.#running.get(name) ?? this.#begin(read, options, key, model, caller, by)
    this.#running.set(name, running)
    try {
      return await running
    } finally {
      this.#running.delete(name)
    }
  }

  #begin(
    { draft, profile }: ReadDraft,
    options: DraftOptions,
    key: Key,
    model: EmbeddingModel,
    caller: Caller,
    by: Actor,
  ): Promise<Batch> {
    const run = {
      draft,
      format: profile.format,
      rows: profile.rows,
      model,
      askedModel: options.model,
      textColumn: options.text_column,
      idColumn: options.id_column ?? undefined,
      dimensions: options.dimensions ?? undefined,
      badRows: options.bad_rows,
      windowMs: options.window_hours * HOUR_MS,
      output: options.output ?? undefined,
      by,
      // Making the file may take a minute: the rights that count are those of the moment of the batch.
      keyAtEnd: async (): Promise<Key> => {
        if ((await caller.isInForce?.()) === false)
          throw new Fault(
            'forbidden',
            `The rights of ${caller.actor} have changed. Ask again with the present ones.`,
          )
        return this.#keyFor(draft, options, caller)
      },
    }
    return runDraft(run, key, this.#node.forDrafts)
  }

  /** A key of the project, or the caller's own in it, under which the playground runs too. */
  async #keyFor({ project }: BatchDraft, { key }: DraftOptions, caller: Caller): Promise<Key> {
    const player = key === null ? playerOf(caller) : undefined
    const keyId = key ?? `${project}/${playgroundKey(playerOf(caller))}`
    if (!keyId.startsWith(`${project}/`))
      throw invalidField(`The key ${keyId} does not belong to the project ${project} of the draft.`, 'key')
    const owner = { keyId, project, player }
    const now = await this.#node.terms.of(owner)
    if (
      key !== null &&
      (now.standing === 'revoked' || now.standing === 'expired' || now.standing === 'leaked')
    )
      throw invalidField(`The key ${key} does not exist, was revoked or has expired. Choose another.`, 'key')
    return keyNow(owner, false, this.#node.terms)
  }

  async #estimate(
    { project }: BatchDraft,
    profile: CorpusProfile,
    column: ColumnProfile,
    model: EmbeddingModel,
    { bad_rows: badRows }: DraftOptions,
  ): Promise<CorpusEstimate> {
    const at = profile.columns.indexOf(column)
    const texts = profile.sample.map((cells) => cells[at] ?? '').filter((text) => text !== '')
    const { tokens, bytesOf } = this.#node.embedOutside
    const sample = await countSample(texts, model, project, { tokens, bytesOf })
    const { tokenizer, tokenCounts, maxInputTokens } = model.facts
    const isOwnTokenizer = tokenizer !== 'none' && tokenCounts === 'exact'
    return estimateCorpus({
      rows: profile.rows,
      column,
      sample,
      isWhole: profile.isWhole,
      badRows,
      maxTokens: isOwnTokenizer ? maxInputTokens : undefined,
      isOwnTokenizer,
    })
  }

  async #spent({ budgets }: Key): Promise<readonly SpentBudget[]> {
    const nowMs = this.#node.clock.nowMs()
    const asked = budgets.map(({ id, per }) => ({ budgetId: id, window: windowOf(per, nowMs) }))
    const spent = asked.length === 0 ? [] : await this.#node.spending.spentNanoUsd(asked)
    return budgets.map((budget, index) => ({ budget, spentNanoUsd: spent[index] ?? 0n }))
  }
}

function columnOf({ columns }: CorpusProfile, name: string, param: string): ColumnProfile {
  const found = columns.find((column) => column.name === name)
  if (found !== undefined) return found
  throw invalidField(
    `There is no column ${name}. There are ${columns.map((one) => one.name).join(', ')}.`,
    param,
  )
}
