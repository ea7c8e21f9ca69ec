/** What the worker says to one question, asked anew when the question changes. The answer before stays until the next is there. */
import { useEffect, useState } from 'react'
import type { Questions, VectorsDesk } from '../../workers/vectors.ts'

export function useAnswer<Kind extends keyof Questions>(
  desk: VectorsDesk,
  kind: Kind,
  asked: Questions[Kind]['asked'],
): Questions[Kind]['answered'] | undefined {
  const [answer, setAnswer] = useState<{ readonly answered: Questions[Kind]['answered'] }>()
  useEffect(() => {
    let isOver = false
    const ask = async (): Promise<void> => {
      // A desk that was closed meanwhile says so; its run is no longer shown.
      const answered = await desk.ask(kind, asked).catch(() => undefined)
      if (!isOver && answered !== undefined) setAnswer({ answered })
    }
    void ask()
    return () => {
      isOver = true
    }
  }, [desk, kind, asked])
  return answer?.answered
}
