/** Checks by hand: each asks an upstream for its models, with its own key. */
import { useState } from 'react'
import { duration } from '../../app/format.ts'
import { nowMs } from '../../time/now.ts'
import { useWrite } from '../../api/write.ts'
import { failureText } from '../../ui/failure.ts'
import { toast } from '../../ui/toast.tsx'
import { words } from '../../words/words.ts'
import type { Check } from './upstream-row.ts'

/** Upstreams that are asked at the same time: enough to be quick, few enough for a small node. */
const MAX_CHECKS = 4

export interface Checks {
  readonly results: ReadonlyMap<string, Check>
  readonly busy: boolean
  readonly checkOne: (name: string) => Promise<void>
  readonly checkAll: (names: readonly string[]) => Promise<void>
}

export function useChecks(): Checks {
  const { send } = useWrite('post', '/api/v1/upstreams/check')
  const [results, setResults] = useState<ReadonlyMap<string, Check>>(new Map())
  const put = (name: string, check: Check): void => setResults((before) => new Map(before).set(name, check))
  const say = words.routing.upstreams

  /** The answer, or why there is none. */
  const ask = async (
    name: string,
  ): Promise<{ readonly problem: string | undefined; readonly said: string }> => {
    put(name, 'busy')
    let code: string | undefined
    let problem: string | undefined
    let said = ''
    try {
      const answer = await send({ body: { upstream: name } })
      code = answer.fault?.code
      problem = answer.ok ? undefined : (answer.fault?.message ?? say.checkFailed)
      said = say.answered(name, duration(answer.duration_ms), answer.models.length)
    } catch (error) {
      problem = failureText(error)
    }
    put(name, { atMs: nowMs(), code, problem })
    return { problem, said }
  }

  return {
    results,
    busy: [...results.values()].includes('busy'),
    checkOne: async (name) => {
      const { problem, said } = await ask(name)
      if (problem === undefined) toast(said)
      else toast(`${name}: ${say.checkFailed}`, { text: problem, mark: 'bad' })
    },
    checkAll: async (names) => {
      const queue = [...names]
      let failed = 0
      const work = async (): Promise<void> => {
        for (let name = queue.shift(); name !== undefined; name = queue.shift())
          if ((await ask(name)).problem !== undefined) failed += 1
      }
      await Promise.all(Array.from({ length: MAX_CHECKS }, work))
      if (failed === 0) toast(say.allAnswered(names.length))
      else toast(say.someFailed(failed, names.length), { mark: 'warn' })
    },
  }
}
