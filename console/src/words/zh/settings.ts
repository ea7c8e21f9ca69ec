import type { settings as english } from '../en/settings.ts'
import type { Partly } from '../fallback.ts'

export const settings: Partly<typeof english> = {
  sections: {
    general: '常规',
    members: '成员',
    'sign-on': '单点登录',
    tokens: 'API 令牌',
    prices: '价格',
    projects: '项目',
    retention: '保留期限',
    nodes: '节点',
    about: '关于',
  },
  forbidden: (section) => `${section}需要管理员角色。`,
}
