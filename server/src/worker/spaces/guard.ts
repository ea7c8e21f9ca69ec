/**
 * Keeps the promise that a model never answers with vectors of another space. It probes every deployment with the same texts and
 * images, compares the answers with the model's reference, and reports the deployments that are outside. One node probes for all.
 * Every node follows the store and, while the store is unreachable, what it last knew.
 */
import type { Actor } from '#ports/audit.ts'
import type { Catalog, Deployment, EmbeddingModel } from '#core/catalog/catalog.ts'
import type { MadeState } from '#core/batch/final.ts'
import type { CallSize } from '#core/embedding/call-size.ts'
import type { MadeVectors } from '#core/embedding/made-vectors.ts'
import type { ModelSpace } from '#core/embedding/space.ts'
import type { Clock } from '#ports/clock.ts'
import type { ProbeResult, SpaceReference, SpaceStore } from '#ports/spaces.ts'
import { every, everyMs, type Repetition } from '../every.ts'
import type { Pulse } from '../pulse.ts'
import { acceptSpace } from './accept.ts'
import { findDeployment, judgeMade, type ProbeInUse } from './confirm.ts'
import { Sequences } from './sequences.ts'
import { dueByModel } from './due.ts'
import { inOrder, SpaceKnowledge, type GuardedStanding } from './knowledge.ts'
import { describeSpace } from './names.ts'
import { SpaceNews } from './news.ts'
import type { CallGuard } from '#request/embeddings/outside.ts'
import { alertOf, askProbe, isComplete, judged, probeTerms, type Probe, type SpaceAlert } from './probe.ts'
import { ProbesInUse } from './in-use.ts'
import { completed, missingOf, referenceFrom } from './references.ts'
import { recordSeen } from './record.ts'
import { oldSpaces } from './retention.ts'
import { ProbeSchedule } from './schedule.ts'

export interface SpaceGuardParts {
  readonly store: SpaceStore
  readonly catalog: () => Catalog
  readonly probe: Probe
  readonly clock: Clock
  /** Undefined: deployments are probed at their intervals only. */
  readonly probeInUse?: ProbeInUse | undefined
  /** Whether this node probes for all. */
  readonly isProber: () => Promise<boolean>
  /** Whether a probe would load a model into this process. Undefined means never. */
  readonly isAsleep?: ((deployment: Deployment) => boolean) | undefined
  /** Called on every node: for each changed standing, and for all of them after the catalog changed. */
  readonly onStanding: (standing: GuardedStanding) => void
  /** Called only on the node that noticed. */
  readonly onAlert: (alert: SpaceAlert) => void
  /** The store was unreachable, or a step failed; it is repeated. */
  readonly onTrouble: (error: unknown) => void
  /** `FOLLOW_MS` and `LOOK_MS` unless given. */
  readonly followMs?: number | undefined
  readonly pulse?: Pick<Pulse, 'on' | 'always' | 'said'> | undefined
  readonly lookMs?: number | undefined
  /** `Math.random` unless given. */
  readonly random?: (() => number) | undefined
}

/** Interval of reading: a quarantine takes effect on every node within this time and one query. */
const FOLLOW_MS = 2000
/** Interval at which due deployments are noticed. */
const LOOK_MS = 1000
/** Models probed concurrently: a restart with hundreds of models is no burst. */
const MODELS_AT_ONCE = 8
const DELETE_OLD_MS = 3_600_000

/** The sequence under which the store is read: no model has this name. */
const READING = ''

export class SpaceGuard implements CallGuard {
  readonly #parts: SpaceGuardParts
  readonly #known = new SpaceKnowledge()
  readonly #inUse: ProbesInUse | undefined
  /** By model. */
  readonly #sequences = new Sequences()
  readonly #schedule: ProbeSchedule
  readonly #news: SpaceNews
  #loops: readonly Repetition[] = []
  #isStopped = false
  #beginning: Promise<void> | undefined
  #heard: string | undefined

  constructor(parts: SpaceGuardParts) {
    this.#parts = parts
    this.#schedule = new ProbeSchedule(parts.clock, parts.random ?? Math.random)
    this.#news = new SpaceNews(parts.onStanding)
    const { probeInUse: probe, random = Math.random } = parts
    this.#inUse =
      probe &&
      new ProbesInUse({
        ...parts,
        probe,
        random,
        known: this.#known,
        onOutside: (result, before) => {
          this.#learn(result, before)
          // So that other nodes know before their next reading.
          void this.follow().catch(parts.onTrouble)
        },
        onWarned: ({ model, deployment }, result, before) => {
          if (!this.#sequences.has(model.id) && this.#schedule.isCalledBy(result, before))
            void this.#probeInTurn(model, [deployment]).catch(parts.onTrouble)
        },
      })
  }

  /** Resolves when the store was read and, if this node probes for all, due deployments have been probed. */
  async start(): Promise<void> {
    const { onTrouble, pulse, followMs = FOLLOW_MS, lookMs = LOOK_MS } = this.#parts
    if (this.#isStopped) return
    this.#tell()
    this.#loops = [
      (pulse?.always ?? everyMs(followMs))(() => this.#followNews(), onTrouble),
      every(lookMs, async () => this.#look(), onTrouble),
      every(DELETE_OLD_MS, () => this.#deleteOld(), onTrouble),
    ]
    await this.follow().catch(onTrouble)
    await this.probeDue().catch(onTrouble)
  }

  /** Waits for the probes in progress. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await Promise.all([this.#beginning, ...this.#loops.map((loop) => loop.stop())])
    await Promise.all([this.#sequences.ended(), this.#inUse?.ended()])
  }

  /** What a slow store holds up does not keep deployments in use from their probes. */
  #look(): void {
    this.#inUse?.look()
    this.#beginning ??= this.#beginDue()
      .catch(this.#parts.onTrouble)
      .finally(() => (this.#beginning = undefined))
  }

  /** Undefined when the catalog has no such embedding deployment. */
  standingOf(deployment: string): GuardedStanding | undefined {
    return this.#known.standings(this.#parts.catalog()).get(deployment)
  }

  /** Whether nothing of a deployment may be sent. A request may hold one of an earlier catalog. */
  isOutside(model: EmbeddingModel, deployment: Deployment): boolean {
    return model.isGuarded && this.#known.standingOf(this.#parts.catalog(), model, deployment).isQuarantined
  }

  noteCall(model: EmbeddingModel, deployment: Deployment, inputs: number, tokens: number): void {
    this.#inUse?.noteCall(model, deployment, inputs, tokens)
  }

  /** Whether the store was read once. */
  get hasRead(): boolean {
    return this.#known.hasRead
  }

  referenceOf(model: string): SpaceReference | undefined {
    return this.#known.referenceOf(model)
  }

  /** Undefined until the store was read once. */
  spaceNow(model: Pick<EmbeddingModel, 'id' | 'space'>): ModelSpace | undefined {
    return describeSpace(model, this.#known, this.#parts.catalog())
  }

  /**
   * Whether vectors that a deployment made at that time may be used. Those made between its last good check and the bad one may not,
   * also long after the deployment has returned. Cheap: it is asked for every vector found in a cache.
   */
  isTrusted(deployment: string, madeAtMs: number): boolean {
    return this.#known.isTrusted(this.#parts.catalog(), deployment, madeAtMs)
  }

  /** Whether a good check of the deployment has followed a vector that it made at that time. */
  isConfirmed(deployment: string, madeAtMs: number): boolean {
    return this.#known.isConfirmed(this.#parts.catalog(), deployment, madeAtMs)
  }

  /** What is known of the space of vectors. */
  judgeMade(made: MadeVectors): MadeState {
    return judgeMade(made, this.#known, this.#parts.catalog())
  }

  /** Probes a deployment now, in calls like its largest. True: what it had made until then is of its space. */
  async confirm(id: string, largest: CallSize | undefined): Promise<boolean> {
    const found = findDeployment(this.#parts.catalog(), id)
    if (found === undefined || this.#inUse === undefined) return false
    return !this.isOutside(found.model, found.deployment) && this.#inUse.confirm(found, largest)
  }

  /** Call it in the turn in which the catalog changes: changed deployments are held back immediately. */
  reload(): void {
    this.#tell()
    void this.#beginDue().catch(this.#parts.onTrouble)
  }

  /** Writes what this node saw, reads the store, and reports changes. References are read if there is a new one, or on demand. */
  follow(alsoReferences = false): Promise<void> {
    return this.#sequences.add(READING, async () => {
      const { store, onTrouble } = this.#parts
      const written = await recordSeen(this.#known, store, onTrouble)
      const rows = await store.standings()
      // In this order: standings older than a reference only hold deployments back.
      const mustRead = alsoReferences || this.#known.isNews(rows)
      this.#known.learn(rows, mustRead ? await store.references() : undefined)
      this.#known.forget(written)
      this.#tell()
    })
  }

  /** Follows unless the store has no news, and this node has none for it. */
  async #followNews(): Promise<void> {
    const heard = this.#parts.pulse?.said('standings')
    if (heard === undefined || heard !== this.#heard || this.#known.hasUnwritten) await this.follow()
    this.#heard = heard
  }

  /** Probes the due deployments, also those in use, and waits for the answers. */
  async probeDue(): Promise<void> {
    this.#inUse?.look()
    await this.#beginDue()
    await Promise.all([this.#sequences.ended(), this.#inUse?.ended()])
  }

  /** Probes all deployments of a model, now and on this node. */
  async probeNow(model: string): Promise<readonly ProbeResult[]> {
    const one = this.#parts.catalog().models.get(model)
    return one?.kind === 'embedding' && one.isGuarded ? this.#probeInTurn(one, one.deployments) : []
  }

  /**
   * From now on the model's space is what this deployment answers. All others are held back until they have been compared with it.
   * Rejects with a fault when the deployment does not answer, or answers in the model's current space.
   */
  accept(model: EmbeddingModel, deployment: Deployment, actor: Actor): Promise<SpaceReference> {
    const { store, clock, probe, onTrouble } = this.#parts
    const learnt = async (result: ProbeResult): Promise<void> => {
      this.#known.remember(result)
      await this.follow(true)
    }
    return this.#sequences.add(model.id, async () => {
      const reference = await acceptSpace(model, deployment, actor, { store, clock, probe, learnt })
      const others = model.deployments.filter((one) => one !== deployment)
      void this.#probeInTurn(model, others).catch(onTrouble)
      return reference
    })
  }

  /** Begins to probe due deployments, without waiting for them. */
  async #beginDue(): Promise<void> {
    const due = (isProber: boolean) =>
      dueByModel(this.#parts.catalog(), isProber, {
        known: this.#known,
        schedule: this.#schedule,
        sequences: this.#sequences,
        isAsleep: this.#parts.isAsleep,
      })
    if (due(true).size === 0) return
    const isProber = await this.#isProber()
    if (due(isProber).size === 0) return
    // No deployment is compared with a replaced reference.
    await this.follow(true).catch(this.#parts.onTrouble)
    // No deployment is probed without a reference while one may exist.
    if (!this.#known.hasRead) return
    for (const [model, deployments] of due(isProber)) {
      if (this.#isStopped || this.#sequences.size >= MODELS_AT_ONCE) return
      void this.#probeInTurn(model, deployments).catch(this.#parts.onTrouble)
    }
  }

  async #isProber(): Promise<boolean> {
    try {
      return await this.#parts.isProber()
    } catch (error) {
      this.#parts.onTrouble(error)
      return false
    }
  }

  #probeInTurn(model: EmbeddingModel, deployments: readonly Deployment[]): Promise<readonly ProbeResult[]> {
    return this.#sequences.add(model.id, async () => {
      const results: ProbeResult[] = []
      const left = [...inOrder(deployments)]
      // The first answer becomes the reference, and the first with images its images; the others are compared with it.
      while (left.length > 0 && missingOf(this.#known.referenceOf(model.id), left) !== undefined)
        results.push(await this.#probeOne(model, left.shift() as Deployment))
      results.push(...(await Promise.all(left.map((deployment) => this.#probeOne(model, deployment)))))
      await this.follow()
      return results
    })
  }

  async #probeOne(model: EmbeddingModel, deployment: Deployment): Promise<ProbeResult> {
    const { clock, probe } = this.#parts
    const { id } = deployment
    const atMs = clock.nowMs()
    const before = this.standingOf(id)
    this.#schedule.tried(id)
    const isReturning = before?.state === 'quarantined'
    const needsReference = missingOf(this.#known.referenceOf(model.id), [deployment]) !== undefined
    const terms = probeTerms(needsReference, before, atMs)
    const answer = await askProbe(probe, model, deployment, terms)
    if (isComplete(answer))
      await this.#complete(referenceFrom(model, deployment, { ...answer, acceptedAtMs: atMs, generation: 1 }))
    const reference = this.#known.referenceOf(model.id)
    const { size } = terms
    const result = judged(model, deployment, { atMs, answer, reference, isReturning, size })
    this.#learn(result, before, this.#schedule.isNewlyVain(id))
    return result
  }

  #learn(result: ProbeResult, before: GuardedStanding | undefined, isNewlyVain = false): void {
    this.#known.remember(result)
    this.#tell()
    const alert = alertOf(before, result, isNewlyVain)
    if (alert) this.#parts.onAlert(alert)
  }

  /** Without the store nothing becomes a reference: each node would have a different one. */
  async #complete(first: SpaceReference): Promise<void> {
    try {
      const known = this.#known.referenceOf(first.model)
      const reference = await completed(known, first, this.#parts.store)
      if (reference !== known) this.#known.learnReference(reference)
    } catch (error) {
      this.#parts.onTrouble(error)
    }
  }

  #tell(): void {
    const catalog = this.#parts.catalog()
    const standings = this.#known.standings(catalog)
    this.#schedule.note(standings)
    this.#news.tell(catalog, standings)
  }

  async #deleteOld(): Promise<void> {
    const { store, clock } = this.#parts
    if (await this.#isProber()) await store.deleteOld(oldSpaces(clock.nowMs()))
  }
}
