import type { welcome as english } from '../en/welcome.ts'

export const welcome: typeof english = {
  title: '欢迎',
}
