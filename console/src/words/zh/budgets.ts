import type { budgets as english } from '../en/budgets.ts'

export const budgets: typeof english = {
  title: '预算',
}
