import type { models as english } from '../en/models.ts'

export const models: typeof english = {
  title: '模型',
}
