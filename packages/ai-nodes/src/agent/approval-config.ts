import { isJsonObject, type JsonObject, type JsonValue, type NodeContext } from '@millrace/engine';
import { type Message, message } from '@millrace/messages';
import { choice } from '@millrace/node-kit/choice';
import { requestProperty } from '@millrace/node-kit/http/send-request';
import { notifyProperty } from '@millrace/node-kit/notices';
import { DAY_S, timeoutProperty } from '@millrace/node-kit/waits';
import { type Static, Type } from 'typebox';

const asked = { 'x-when': { approval: ['always', 'when'] } };

/** Settings of a tool, or of all tools of a server. */
export const approvalOfTool = {
  approval: Type.Optional(
    choice(
      'Approval',
      'Whether a person has to approve a call before it is made.',
      { never: 'Never', always: 'Always', when: 'Under a condition' },
      { default: 'never' },
    ),
  ),
  approval_when: Type.Optional(
    Type.String({
      title: 'Condition',
      description:
        'A template with the arguments of the call, such as {{args.amount > 100}}. A person is asked unless it evaluates to false.',
      default: '',
      'x-placeholder': '{{args.amount > 100}}',
      'x-when': { approval: ['when'] },
    }),
  ),
  approval_edit: Type.Optional(
    Type.Boolean({
      title: 'Arguments can be changed',
      description: 'Whether the person can change the arguments before approving.',
      default: false,
      ...asked,
    }),
  ),
};

/** What a tool says about approvals. */
export type ToolApproval = Static<ReturnType<typeof Type.Object<typeof approvalOfTool>>>;

/** Settings of the node: how people are asked. */
export const approvalProperties = {
  approval_title: Type.String({
    title: 'Title of the question',
    description: 'The question, in one line. {{args.tools}} stands for the names of the tools.',
    minLength: 1,
    default: '{{args.tools}}',
  }),
  approval_timeout_s: timeoutProperty(
    'How many seconds to wait for the decision. After that, the calls count as rejected.',
    7 * DAY_S,
  ),
  approval_in_chat: Type.Boolean({
    title: 'Ask in the chat',
    description:
      'If a chat started the execution, its visitor sees the question on the chat page and may decide. On only for what visitors may decide themselves. The value is fixed: a template counts as off.',
    default: false,
  }),
  approval_notify: notifyProperty(
    'A chat message or e-mail that asks for the decision. {{args.approval_url}} is the page of the question; {{args.approve_url}} and {{args.reject_url}} open the same page with that choice selected; {{args.tools}} are the names of the tools. Empty: none.',
  ),
  approval_request: requestProperty(
    'An HTTP request that asks for the decision, with the same URLs. Empty: none.',
    null,
  ),
};

export const APPROVAL_SECTION = {
  title: 'Approvals',
  fields: ['approval_title', 'approval_timeout_s', 'approval_in_chat', 'approval_notify', 'approval_request'],
} as const;

export type ApprovalConfig = Static<ReturnType<typeof Type.Object<typeof approvalProperties>>>;

/** Renders a tool, or a server of tools, except what is rendered with the arguments of each call. */
export function renderAround(tool: JsonValue, render: NodeContext['render']): JsonValue {
  if (!isJsonObject(tool)) return tool;
  const { config, approval_when: condition, ...rest } = tool;
  return {
    ...(render(rest, {}) as JsonObject),
    ...(config === undefined ? {} : { config }),
    ...(condition === undefined ? {} : { approval_when: condition }),
  };
}

/** Why the condition of an approval can't be used; null when it can. */
export function conditionFault({ approval, approval_when: condition = '' }: JsonObject): Message | null {
  return approval === 'when' && condition === '' ? message('nodes.no_approval_condition') : null;
}
