import type { settings as english } from '../en/settings.ts'

export const settings: typeof english = {
  title: '设置',
  sections: {
    general: '常规',
    members: '成员',
    'sign-on': '单点登录',
    tokens: '令牌',
    prices: '价格',
    projects: '项目',
    retention: '保留期限',
    nodes: '节点',
    about: '关于',
  },
  forbidden: (section) => `${section}仅供管理员使用。`,
}
