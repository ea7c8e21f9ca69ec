import type { apiReference as english } from '../en/api-reference.ts'
import type { Partly } from '../fallback.ts'

export const apiReference: Partly<typeof english> = {
  title: 'API 参考',
  apis: { gateway: '网关', control: '控制' },
  operations: '操作',
  search: '搜索操作',
  parameters: '参数',
  body: '请求体',
  answer: (status) => `响应 ${status}`,
  required: '必填',
  in: { path: '路径参数', query: '查询参数', header: '请求头' },
  permissions: { anyone: '无需会话', 'signed-in': '任何已登录用户' },
  tryIt: '试一试',
  notSet: '未设置',
  send: '发送',
  changes: '此调用会更改安装。以我的账户发送。',
  tickFirst: '请先确认此调用可以更改安装。',
  costs: '与任何请求一样计入项目费用。',
  onlyCurl: '控制台无法发送此调用。请使用密钥运行下方命令。',
  notHere: '响应是流或文件。请使用令牌运行下方命令。',
  forbidden: (permission) => `需要权限 ${permission}。`,
  cut: '响应在此截断；完整内容请用命令获取。',
}
