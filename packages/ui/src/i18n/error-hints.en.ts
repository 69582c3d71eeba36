/** What to do about an error, by its code. Codes without an entry are a workflow's own. */
export const errorHintsEn = {
  own: 'The workflow itself ended with this code. Look at the node and at what came into it.',
  invalid_workflow:
    'Open the workflow: its list of problems says what is missing. Mend it, save, then rerun from the start.',
  invalid_config:
    'A setting of the node does not fit, often because a template gave another kind of value. Look at the outputs before it and at the field that the message names.',
  invalid_output:
    'The node gave back something that is no object. Look at what it calls, or at the code in it.',
  output_too_large:
    'The node put out more than one output may have. Ask for less: fewer fields, a page at a time, or a filter.',
  output_too_deep: 'The output is nested too deeply to be stored. Pick the part that is needed.',
  node_error:
    'The node stopped in a way it should not. Rerun from the failed node; if it fails again, report the message to who runs the service.',
  node_timeout:
    'The node took longer than its limit. Raise its time limit, or make what it asks for smaller.',
  execution_timeout:
    'The whole execution took longer than the workflow’s time limit. Raise the limit in the workflow’s settings, or find the slow node in the time line.',
  worker_crashed:
    'The process that ran it was lost three times. A node may need more memory than there is: look at the one that ran last.',
  aborted:
    'It was ended from outside: by a cancellation, a time limit or a shutdown. Rerun from the failed node.',
  token_budget_exceeded:
    'More AI tokens were used than the workflow’s budget allows. Raise the budget, or make prompts and answers shorter.',
  too_many_items: 'The list is longer than a loop may have. Split it, for example with Data: chunk.',
  max_iterations_reached:
    'The loop’s condition did not become true in time. Look at the last iterations, then at the condition or the limit.',
  child_failed:
    'The workflow that this node called has failed. Open the execution it started, and mend that one first.',
  child_cancelled:
    'Somebody cancelled the execution that this node waited for. Rerun from the failed node to call it again.',
  child_timeout:
    'The called workflow took longer than this node waits. Raise the node’s time limit or make it not wait.',
  workflow_not_found:
    'The workflow that is called does not exist in this organisation. Choose another in the node.',
  workflow_inactive: 'The called workflow is inactive. Activate it, then rerun from the failed node.',
  workflow_archived: 'The called workflow is archived. Restore it, then rerun from the failed node.',
  http_status:
    'The other side refused. The output holds its answer: a 4xx means the request is to be changed, a 5xx that it may work later.',
  invalid_response:
    'The answer was not in the format that the node expects. Look at the answer, or set the response type to automatic.',
  invalid_url: 'The address is not complete or not valid. Look at the template that makes it.',
  target_not_allowed:
    'The address leads into an internal network, which is closed by default. Who runs the service can open it for this host.',
  connection_failed:
    'No connection came about. Check the host’s name and that it can be reached, then rerun from the failed node.',
  timeout: 'The other side did not answer in time. Raise the time limit, or try again later.',
  too_many_redirects: 'The address was redirected too often. Use the address it ends at.',
  response_too_large: 'The answer is larger than the node allows. Raise its limit or ask for less.',
  webhook_gone: 'The receiver says that this webhook does not exist any more. Enter its new address.',
  mail_rejected:
    'The server took none of the recipients. Check their addresses and whether the sender is allowed.',
  mail_refused:
    'The server refused the message. Its answer says why: often the sender’s address or the size.',
  mail_auth_failed: 'The mail server did not accept user name and password. Mend the credential.',
  mail_connection_failed: 'The mail server could not be reached. Check host and port of the credential.',
  mail_tls_failed:
    'No secure connection to the mail server came about. Check its certificate and the security setting of the credential.',
  chat_auth_failed:
    'The chat service did not accept the address or token. Make a new one there and mend the credential.',
  chat_rate_limited: 'The chat service takes no more messages for now. Send fewer, or let the node retry.',
  chat_refused: 'The chat service refused the message. Its answer says why: often the channel or the format.',
  chat_unavailable: 'The chat service does not work at the moment. Rerun from the failed node later.',
  message_too_long: 'The message is longer than the service takes. Shorten it.',
  sql_error: 'The database refused the statement. The message names the place; check names and values.',
  sql_auth_failed: 'The database did not accept user and password. Mend the credential.',
  sql_connection_failed:
    'The database could not be reached, or takes no connections now. Check host and port, then rerun from the failed node.',
  sql_tls_failed:
    'No secure connection to the database came about. Check its certificate and the TLS setting of the credential.',
  sql_timeout: 'The statement took longer than its limit. Look for a missing index, or raise the limit.',
  sql_read_only: 'The node may only read. Allow writing in the node if that is meant.',
  sql_result_too_large: 'The result is larger than the node takes. Use LIMIT or fewer columns.',
  sql_outcome_unknown:
    'The connection broke after the statement was sent: it may have taken effect. Check in the database before you rerun.',
  credential_not_found:
    'The credential was deleted or belongs to another organisation. Choose one in the node.',
  credential_unreadable:
    'The credential cannot be decrypted with the keys that the service has. Enter its values again.',
  credential_host_not_allowed:
    'The credential may be sent to other hosts only. Add this host to the credential if that is meant.',
  invalid_credential:
    'The credential is of another kind than the node needs, or lacks a value. Choose or mend it.',
  code_error: 'The code failed. The message names line and column, the log shows how far it came.',
  code_timeout: 'The code ran for longer than its limit. Look for an endless loop, or raise the limit.',
  code_memory: 'The code needs more memory than its limit. Work on less at a time, or raise the limit.',
  code_output_too_large: 'The code gave back too much. Return only what later nodes need.',
  ai_unauthorized: 'The provider did not accept the API key. Mend the credential.',
  ai_quota_exceeded:
    'The account at the provider has nothing left to spend. Top it up, then rerun from the failed node.',
  ai_rate_limited:
    'The provider takes no more requests for now. Let the node retry, or send fewer at a time.',
  ai_overloaded: 'The provider is overloaded or failed. Rerun from the failed node later.',
  ai_unreachable: 'The provider could not be reached. Check the base URL of the credential.',
  ai_timeout: 'The model did not answer in time. Raise the time limit, or ask for a shorter answer.',
  ai_stream_cut: 'The answer broke off. Rerun from the failed node.',
  ai_model_not_found: 'The provider does not know this model. Check its name and the base URL.',
  ai_context_too_long:
    'The prompt is longer than the model can read. Shorten it, or choose a model that reads more.',
  ai_refused: 'The model or its provider refused the content. Change the prompt.',
  ai_bad_request:
    'The provider refused the request. The message says why: often a setting that the model does not know.',
  ai_invalid_response:
    'The answer was in another format than the provider promises. Check the base URL and the kind of provider.',
  ai_invalid_output:
    'The answer does not fit the schema. Make the schema simpler, say more in the prompt, or allow more tokens.',
  ai_answer_too_large: 'The answer is too large. Ask for a shorter one.',
  agent_step_limit:
    'The agent did not finish within its steps. The output has them all: look where it goes round, or raise the limit.',
  agent_timeout:
    'The agent did not finish in time. The output has its steps; raise the limit or give it a smaller task.',
  data_limit_reached: 'The organisation’s store is full. Delete entries, or let them expire.',
  data_value_too_large: 'The value is too large to be stored. Store less, or parts of it.',
  data_not_a_number:
    'The stored value is no number, so it cannot be counted up. Use another key, or set it anew.',
  delay_too_long: 'The delay is longer than the service waits. Use a schedule instead.',
  not_a_list:
    'The node needs a list, and the template gave something else. Look at the output that it reads.',
  invalid_data: 'The data does not have the form that the step needs. Look at the output that comes in.',
  internal_error:
    'The service failed, not the workflow. Rerun from the failed node; if it fails again, report the message to who runs the service.',
  database_unavailable: 'The service could not reach its own database. Rerun from the failed node.',
} as const;
