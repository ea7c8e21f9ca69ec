/** The worker's response to one request, sent again when the request changes. The previous response stays until the next arrives. */
import { useEffect, useState } from 'react'
import type { VectorClient, VectorTasks } from '../../workers/vectors.ts'

interface TaskState<Kind extends keyof VectorTasks> {
  readonly response?: VectorTasks[Kind]['response']
  readonly error?: unknown
}

export function useVectorTask<Kind extends keyof VectorTasks>(
  vectors: VectorClient,
  kind: Kind,
  request: VectorTasks[Kind]['request'],
): TaskState<Kind> {
  const [state, setState] = useState<TaskState<Kind>>({})
  useEffect(() => {
    let isOver = false
    vectors.request(kind, request).then(
      (response) => !isOver && setState({ response }),
      (error: unknown) => !isOver && setState({ error }),
    )
    return () => {
      isOver = true
    }
  }, [vectors, kind, request])
  return state
}
