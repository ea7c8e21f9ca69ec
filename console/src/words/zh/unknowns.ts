import type { unknowns as english } from '../en/unknowns.ts'

export const unknowns: typeof english = {
  title: '未知结果',
}
