/** Deployments are named `<model>/<upstream>`. Where the model stands beside it, the upstream is enough. */
export function upstreamOf(deployment: string, model: string | null): string {
  if (model !== null && deployment.startsWith(`${model}/`)) return deployment.slice(model.length + 1)
  return deployment
}

export function upstreamsOf(deployments: readonly string[], model: string | null): string {
  return deployments.map((deployment) => upstreamOf(deployment, model)).join(', ')
}
