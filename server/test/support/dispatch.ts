/** The scheduling of calls, for journeys that are tested by themselves: the first deployment of a priority goes first. */
import { Scheduler } from '#core/schedule/scheduler.ts'
import { defaultLimits } from '#core/settings.ts'
import type { Clock } from '#ports/clock.ts'
import { Dispatch } from '#request/traffic/dispatch.ts'
import type { EmbedDependencies } from '#request/embeddings/embed.ts'
import { after, systemClock } from '#runtime/clock.ts'

export function aDispatch(clock: Clock = systemClock, timer = after): Dispatch {
  return new Dispatch({
    scheduler: new Scheduler({ nodes: () => 1 }),
    clock,
    random: () => 0,
    ownWaitMs: () => 0,
    limits: defaultLimits,
    // As many as a test is about.
    newBudget: () => ({ begun: () => {}, mayRetry: () => true }),
    after: timer,
  })
}

/** Nothing is shared, and no deployment has left a space. */
export function plainTraffic(
  clock?: Clock,
): Pick<EmbedDependencies, 'dispatch' | 'sharingOf' | 'spaceNow' | 'isQuarantined'> {
  return {
    dispatch: aDispatch(clock),
    sharingOf: () => undefined,
    spaceNow: ({ id }) => ({ model: id, generation: 1 }),
    isQuarantined: () => false,
  }
}
