import type { deployments as english } from '../en/deployments.ts'

export const deployments: typeof english = {
  title: '部署',
}
