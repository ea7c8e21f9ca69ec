/** Probes all deployments of a model now. */
import { useWrite } from '../../api/write.ts'

export function useCompare() {
  const { now, busy } = useWrite('post', '/api/v1/spaces/{model}/probe', { touches: ['/api/v1/deployments'] })
  return {
    busy,
    compare: (model: string, done?: () => void): void => now({ params: { path: { model } } }, done),
  }
}
