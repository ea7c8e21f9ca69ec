export const deployments = {
  title: 'Deployments',
}
