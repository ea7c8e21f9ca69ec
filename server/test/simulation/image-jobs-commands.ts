/** What can happen to image jobs, drawn at random and shrunk when it breaks something. */
import fc from 'fast-check'
import { CALLER_SILENT_MS, JOB_HOLD_MS, type Hold, type JobEnd, type NewImageJob } from '#ports/image-jobs.ts'
import type { JobsWorld } from '#test/contract/image-jobs-open.ts'
import { JobsSimulation } from './image-jobs-model.ts'

type Command = fc.AsyncCommand<JobsSimulation, JobsSimulation>
type Happening = (simulation: JobsSimulation) => Promise<void> | undefined

const NODES = [1, 2, 3].map((number) => `01940000-0000-7000-8000-00000000000${number}`)
const nodes = fc.constantFrom(...NODES)
const which = fc.nat(100)
/** Of many claims the newest are the interesting ones. */
const holds = fc.oneof(fc.nat(2), which)

function command(name: string, details: unknown, happen: Happening): Command {
  return {
    check: () => true,
    run: async (simulation) => happen(simulation),
    toString: () => `${name} ${fc.stringify(details)}`,
  }
}

function holdOf({ holds }: JobsSimulation, index: number): Hold | undefined {
  return holds.at(-1 - (index % Math.max(1, holds.length)))
}

const begins = fc
  .record({
    project: fc.constantFrom('shop', 'shop', 'other'),
    key: fc.constantFrom('ci', 'ci', 'web'),
    digest: fc.constantFrom('one', 'one', 'two'),
    idempotencyKey: fc.constantFrom(undefined, undefined, 'order-7', 'order-8'),
    isRetry: fc.boolean(),
    undecidedMs: fc.constantFrom(undefined, 5000),
    nodeId: nodes,
    repeats: fc.option(which, { nil: undefined, freq: 8 }),
  })
  .map((drawn) =>
    command('begin', drawn, (simulation) => {
      const { project, key, digest, idempotencyKey, isRetry, undecidedMs, nodeId, repeats } = drawn
      const asked = [...simulation.jobs.values()].map((job) => job.asked)
      const again = repeats === undefined ? undefined : asked[repeats % Math.max(1, asked.length)]
      if (again) return simulation.begin(again)
      const id = simulation.nextId()
      const request = `what ${id} asks for`
      const job: NewImageJob = {
        id,
        project,
        keyId: `${project}/${key}`,
        player: undefined,
        model: 'painter',
        digest,
        idempotencyKey,
        isRetry,
        undecidedMs,
        request,
        nodeId,
      }
      return simulation.begin(job)
    }),
  )

const dispatches = fc.record({ hold: holds, attempt: fc.nat(1), call: fc.nat(1) }).map((drawn) =>
  command('dispatched', drawn, (simulation) => {
    const hold = holdOf(simulation, drawn.hold)
    const callId = `01950000-0000-7000-8000-00000000000${drawn.call}`
    const call = { attempt: drawn.attempt, callId, part: 0, images: 1, deployment: 'painter/openai' }
    return hold && simulation.say(hold, (jobs) => jobs.dispatched(hold, call))
  }),
)

const submissions = fc.record({ hold: holds, attempt: fc.nat(1) }).map((drawn) =>
  command('submitted', drawn, (simulation) => {
    const hold = holdOf(simulation, drawn.hold)
    return hold && simulation.say(hold, (jobs) => jobs.submitted(hold, drawn.attempt, 'taken'))
  }),
)

const callEnds = fc
  .record({
    hold: holds,
    attempt: fc.nat(1),
    state: fc.constantFrom('failed' as const, 'delivered' as const, 'unknown' as const),
  })
  .map((drawn) =>
    command('call ended', drawn, (simulation) => {
      const hold = holdOf(simulation, drawn.hold)
      return hold && simulation.say(hold, (jobs) => jobs.callEnded(hold, drawn.attempt, drawn.state))
    }),
  )

const ends = fc
  .record({
    hold: holds,
    state: fc.constantFrom<JobEnd['state']>('settled', 'failed', 'failed', 'unknown'),
    isFree: fc.boolean(),
  })
  .map((drawn) =>
    command('end', drawn, (simulation) => {
      const hold = holdOf(simulation, drawn.hold)
      const freesKey = drawn.isFree && drawn.state === 'failed'
      return hold && simulation.end(hold, { state: drawn.state, result: drawn.state, freesKey })
    }),
  )

const answers = which.map((index) =>
  command('answered', index, (simulation) => {
    const ids = [...simulation.jobs.keys()]
    const id = ids.at(index % Math.max(1, ids.length))
    return id === undefined ? undefined : simulation.answered(id)
  }),
)

const takeOvers = fc
  .record({ nodeId: nodes, limit: fc.constantFrom(1, 2, 10) })
  .map((drawn) => command('take over', drawn, (simulation) => simulation.takeOver(drawn.nodeId, drawn.limit)))

const renewals = nodes.map((nodeId) => command('renew', nodeId, (simulation) => simulation.renew(nodeId)))
const releases = nodes.map((nodeId) => command('release', nodeId, (simulation) => simulation.release(nodeId)))

const callerOf = ({ callers }: JobsSimulation, index: number) =>
  callers.at(-1 - (index % Math.max(1, callers.length)))
const callersRenewed = holds.map((index) =>
  command('callers renewed', index, (simulation) => {
    const caller = callerOf(simulation, index)
    return caller && simulation.renewCallers([caller])
  }),
)
const callersLeft = holds.map((index) =>
  command('caller left', index, (simulation) => {
    const caller = callerOf(simulation, index)
    return caller && simulation.callerLeft(caller)
  }),
)

/** Far from one another: the time of a database advances by itself. */
const times = fc
  .constantFrom(CALLER_SILENT_MS / 2, CALLER_SILENT_MS, JOB_HOLD_MS / 2, JOB_HOLD_MS, 14 * 60_000, 86_400_000)
  .map((ms) => command('time passes', ms, (simulation) => simulation.passes(ms)))

/** Between sums of the times above: seconds on a suspended machine change nothing. */
const deletions = fc
  .constantFrom(1.25 * CALLER_SILENT_MS, 3_600_000 + CALLER_SILENT_MS / 4)
  .map((keptMs) => command('delete', keptMs, (simulation) => simulation.deleteOld(keptMs)))

export function jobCommands(maxCommands: number): fc.Arbitrary<Iterable<Command>> {
  const by = (times: number, happening: fc.Arbitrary<Command>) =>
    Array.from({ length: times }, () => happening)
  return fc.commands(
    [
      ...by(8, begins),
      ...by(4, dispatches),
      ...by(4, ends),
      ...by(4, times),
      ...by(3, takeOvers),
      ...by(2, submissions),
      ...by(2, callEnds),
      ...by(2, renewals),
      ...by(2, callersRenewed),
      ...by(3, callersLeft),
      ...by(1, answers),
      ...by(1, releases),
      ...by(1, deletions),
    ],
    { maxCommands, size: 'max' },
  )
}

export async function runJobs(worlds: readonly JobsWorld[], commands: Iterable<Command>): Promise<void> {
  const simulation = new JobsSimulation(worlds)
  await fc.asyncModelRun(() => ({ model: simulation, real: simulation }), commands)
  await simulation.assertFound()
}
