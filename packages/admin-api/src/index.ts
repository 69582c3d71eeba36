import { ACCOUNT_ENDPOINTS } from './accounts.ts';
import { AI_DATA_ENDPOINTS } from './ai-data.ts';
import { ALERT_ENDPOINTS } from './alerts.ts';
import { AUDIT_ENDPOINTS } from './audit.ts';
import { CHAT_ENDPOINTS } from './chats.ts';
import { CONNECTOR_ENDPOINTS } from './connectors.ts';
import { CREDENTIAL_ENDPOINTS } from './credentials.ts';
import { DEBUGGING_ENDPOINTS } from './debugging.ts';
import { EDITOR_ENDPOINTS } from './editor.ts';
import type * as Forms from './endpoint.ts';
import { EXECUTION_LIST_ENDPOINTS } from './execution-lists.ts';
import { EXECUTION_ENDPOINTS } from './executions.ts';
import { FILE_ENDPOINTS } from './files.ts';
import { FOLDER_ENDPOINTS } from './folders.ts';
import { KEY_ENDPOINTS } from './keys.ts';
import { PEOPLE_ENDPOINTS } from './people.ts';
import { SETTINGS_ENDPOINTS } from './settings.ts';
import { STORAGE_ENDPOINTS } from './storage.ts';
import { SYSTEM_ENDPOINTS } from './system.ts';
import { TRIGGER_ENDPOINTS } from './triggers.ts';
import { WORKFLOW_ENDPOINTS } from './workflows.ts';

/** Every endpoint of the admin API. The service validates with it; the web page and the tests derive their types from it. */
export const ADMIN_API = {
  ...ACCOUNT_ENDPOINTS,
  ...AI_DATA_ENDPOINTS,
  ...ALERT_ENDPOINTS,
  ...AUDIT_ENDPOINTS,
  ...CONNECTOR_ENDPOINTS,
  ...CREDENTIAL_ENDPOINTS,
  ...DEBUGGING_ENDPOINTS,
  ...EXECUTION_ENDPOINTS,
  ...EXECUTION_LIST_ENDPOINTS,
  ...FILE_ENDPOINTS,
  ...FOLDER_ENDPOINTS,
  ...KEY_ENDPOINTS,
  ...PEOPLE_ENDPOINTS,
  ...SETTINGS_ENDPOINTS,
  ...CHAT_ENDPOINTS,
  ...STORAGE_ENDPOINTS,
  ...SYSTEM_ENDPOINTS,
  ...TRIGGER_ENDPOINTS,
  ...WORKFLOW_ENDPOINTS,
  ...EDITOR_ENDPOINTS,
} as const;

export type AdminApi = typeof ADMIN_API;
export type EndpointName = keyof AdminApi;
export type Params<Name extends EndpointName> = Forms.Params<Name>;
export type Query<Name extends EndpointName> = Forms.Query<AdminApi[Name]>;
export type Body<Name extends EndpointName> = Forms.Body<AdminApi[Name]>;
export type ResponseBody<Name extends EndpointName> = Forms.ResponseBody<AdminApi[Name]>;
export type Events<Name extends EndpointName> = Forms.Events<AdminApi[Name]>;

export type { Me, SessionItem } from './accounts.ts';
export type { VectorCollection, VectorIndexState, VectorItem, WorkflowMemory } from './ai-data.ts';
export {
  ALERT_CHANNELS,
  ALERT_KINDS,
  type AlertChannel,
  type AlertKind,
  type AlertLanguage,
  type AlertMessage,
  type AlertRule,
  type AlertRuleForm,
  type AlertTarget,
} from './alerts.ts';
export type {
  AuditAction,
  AuditActorKind,
  AuditChain,
  AuditChainProblem,
  AuditItem,
  AuditProblemKind,
} from './audit.ts';
export type { HostedChat, Memory } from './chats.ts';
export type { OwnConnector } from './connectors.ts';
export type {
  Credential,
  CredentialGuide,
  CredentialOptions,
  CredentialTest,
  CredentialTypeItem,
  CredentialUsage,
  OauthPreset,
} from './credentials.ts';
export type { DebugData } from './debugging.ts';
export type {
  Draft,
  DraftConflict,
  FlowCheck,
  NodeType,
  NodeTypeOutline,
  PastInput,
  Pin,
  Sample,
  VersionConflict,
} from './editor.ts';
export { type Access, ANY_FILE, type Endpoint, EXACT_HEADER, UNATTENDED_HEADER } from './endpoint.ts';
export type { ExecutionView, RunBar } from './execution-lists.ts';
export type {
  Approval,
  ExecutionDetail,
  ExecutionItem,
  ExecutionOrigin,
  IterationSpan,
  NodeComparison,
  NodeIteration,
  NodeRunDetail,
  NodeSpan,
  NodeSummary,
} from './executions.ts';
export type { ExecutionFile } from './files.ts';
export type { Folder } from './folders.ts';
export type { Problem } from './forms.ts';
export { type ApiKey, type IssuedKey, type KeyIssuer, type KeyState, SCOPES, type Scope } from './keys.ts';
export type { Account, Invitation, InvitationState, Member, Organisation } from './people.ts';
export { isAtLeast, ROLES, type Role } from './roles.ts';
export type { OrganisationSettings } from './settings.ts';
export type { StoragePart } from './storage.ts';
export type {
  DoctorCheck,
  DoctorFinding,
  HealthState,
  SystemSample,
  SystemState,
  WorkerItem,
  WorkerState,
} from './system.ts';
export { TEMPLATE_CATEGORIES } from './template-categories.ts';
export type { HostedForm, Polling, Webhook } from './triggers.ts';
export {
  FIRST_STEPS,
  type FirstStep,
  type FlowProblem,
  type LastRun,
  MAX_TAGS,
  type RecentRun,
  type Template,
  type TemplateStep,
  type VersionAuthor,
  type VersionDetail,
  type VersionItem,
  WORKFLOW_SORTS,
  WORKFLOW_STATUSES,
  type WorkflowDetail,
  type WorkflowItem,
  type WorkflowSort,
  type WorkflowStatus,
} from './workflows.ts';
