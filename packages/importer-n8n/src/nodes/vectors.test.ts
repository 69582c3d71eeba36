import { runInNewContext } from 'node:vm';
import { findProblems, type JsonObject } from '@millrace/engine';
import { registry } from '@millrace/nodes';
import { describe, expect, it } from 'vitest';
import { asText } from '../read.ts';
import { configOf, flowOf, n8n, outcomeOf, read, type Sketch, START } from '../testing.ts';

const LANGCHAIN = '@n8n/n8n-nodes-langchain';
const part = (kind: string, parameters: JsonObject = {}, version = 1): Sketch => ({
  type: `${LANGCHAIN}.${kind}`,
  version,
  parameters,
});

const EMBEDDING = part('embeddingsOpenAi', { model: 'text-embedding-3-large', options: { dimensions: 256 } });
const STORE = { pineconeIndex: { __rl: true, value: 'manuals', mode: 'list' } };
const WITH_MODEL = { credential_id: 0, model: 'text-embedding-3-large', dimensions: 256 };

/** Problems other than what has to be chosen. */
function faultsOf(result: ReturnType<typeof read>): readonly string[] {
  const found = findProblems(flowOf(result), registry).filter(
    ({ pointer }) => !pointer.endsWith('credential_id'),
  );
  return found.map(({ pointer, code }) => `${pointer} ${code}`);
}

describe('a vector store that takes documents', () => {
  const stored = (
    loader: Sketch,
    splitter: Sketch | null,
    before: { readonly [name: string]: Sketch } = {},
  ) => {
    const names = ['Start', ...Object.keys(before), 'Store', 'After'];
    return read(
      n8n(
        {
          Start: START,
          ...before,
          Store: part('vectorStorePinecone', {
            mode: 'insert',
            ...STORE,
            options: { pineconeNamespace: 'de' },
          }),
          After: { type: 'noOp' },
          Embedding: EMBEDDING,
          Loader: loader,
          ...(splitter === null ? {} : { Splitter: splitter }),
        },
        [
          ...names.slice(1).map((name, index): [string, string] => [names[index] ?? '', name]),
          ['Embedding', 'Store', 'ai_embedding'],
          ['Loader', 'Store', 'ai_document'],
          ...(splitter === null
            ? []
            : [['Splitter', 'Loader', 'ai_textSplitter'] as [string, string, string]]),
        ],
      ),
    );
  };

  it('splits them as its splitter does, and stores the parts in a collection', () => {
    const result = stored(
      part('documentDefaultDataLoader', {
        jsonMode: 'expressionData',
        jsonData: '={{ $json.text }}',
        options: { metadata: { metadataValues: [{ name: 'source', value: '={{ $json.url }}' }] } },
      }),
      part('textSplitterRecursiveCharacterTextSplitter', {
        chunkSize: 600,
        chunkOverlap: 60,
        options: { splitCode: 'markdown' },
      }),
    );
    expect(configOf(result, 'Store: parts')).toEqual({
      text: '{{trigger.data.text}}',
      format: 'markdown',
      size: 600,
      overlap: 60,
      metadata: { source: '{{trigger.data.url}}' },
    });
    expect(configOf(result, 'Store')).toEqual({
      operation: 'put',
      collection: 'manuals/de',
      ...WITH_MODEL,
      items: '{{nodes.store_parts.output.chunks}}',
    });
    // What follows gets documents, as in n8n.
    expect(configOf(result, 'Store: documents')?.code).toContain('pageContent');
    expect(['Store', 'Loader', 'Splitter', 'Embedding'].map((name) => outcomeOf(result, name)?.kind)).toEqual(
      ['approximated', 'mapped', 'mapped', 'approximated'],
    );
    expect(faultsOf(result)).toEqual([]);
  });

  it('reads a file as what it is', () => {
    const download: Sketch = {
      type: 'httpRequest',
      version: 4.2,
      parameters: {
        url: 'https://www.example.com/a',
        options: { response: { response: { responseFormat: 'file' } } },
      },
    };
    const result = stored(part('documentDefaultDataLoader', { dataType: 'binary' }), null, { Get: download });
    expect(configOf(result, 'Store: PDF?')?.conditions).toEqual([
      { left: '{{nodes.get.output.body.type}}', operator: 'equals', right: 'application/pdf' },
    ]);
    expect(configOf(result, 'Store: parts')).toMatchObject({
      text: '{{nodes.store_text_of_pdf.output.text ?? nodes.store_content.output.text ?? nodes.store_content.output.data ?? nodes.store_content.output.rows}}',
      size: 1000,
      overlap: 200,
    });
    const into = flowOf(result).edges.filter(({ target }) => target === 'store_parts');
    expect(into.map(({ source }) => source)).toEqual(['store_text_of_pdf', 'store_content']);
    expect(faultsOf(result)).toEqual([]);
  });

  it('is dropped with its parts if the documents come from elsewhere', () => {
    const result = stored(part('documentGithubLoader'), null);
    expect(outcomeOf(result, 'Store')).toMatchObject({
      kind: 'dropped',
      reason: { key: 'import.unknown_operation', params: { operation: 'documentGithubLoader' } },
    });
    expect(outcomeOf(result, 'Loader')?.kind).toBe('dropped');
  });

  it('says where parts end elsewhere', () => {
    const keys = (splitter: Sketch) => {
      const result = stored(
        part('documentDefaultDataLoader', { jsonMode: 'expressionData', jsonData: 'x' }),
        splitter,
      );
      const outcome = outcomeOf(result, 'Splitter');
      return [configOf(result, 'Store: parts'), outcome?.kind === 'approximated' ? outcome.what : []];
    };
    expect(keys(part('textSplitterTokenSplitter', { chunkSize: 100, chunkOverlap: 80 }))).toMatchObject([
      { size: 100, overlap: 50, unit: 'tokens' },
      [{ key: 'import.overlap_at_most_half' }, { key: 'import.tokens_estimated' }],
    ]);
    expect(keys(part('textSplitterCharacterTextSplitter', { separator: '###' }))).toMatchObject([
      { size: 1000, overlap: 200 },
      [{ key: 'import.own_separators' }],
    ]);
  });
});

describe('a vector store that is searched', () => {
  const search = (parameters: JsonObject) =>
    read(
      n8n(
        {
          Start: START,
          Store: part('vectorStoreQdrant', { mode: 'load', qdrantCollection: 'tea', ...parameters }),
          Embedding: EMBEDDING,
          After: {
            type: 'set',
            version: 3.4,
            parameters: {
              assignments: {
                assignments: [{ name: 'x', type: 'string', value: '={{ $json.document.pageContent }}' }],
              },
            },
          },
        },
        [
          ['Start', 'Store'],
          ['Store', 'After'],
          ['Embedding', 'Store', 'ai_embedding'],
        ],
      ),
    );

  it('gives the texts it finds as the original does', () => {
    const result = search({
      prompt: '={{ $json.question }}',
      topK: 7,
      options: { searchFilterJson: '{"must": [{"key": "metadata.lang", "match": {"value": "de"}}]}' },
    });
    expect(configOf(result, 'Store')).toEqual({
      operation: 'search',
      collection: 'tea',
      ...WITH_MODEL,
      query: '{{trigger.data.question}}',
      limit: 7,
      filter: { lang: 'de' },
    });
    expect(configOf(result, 'For each: After')).toMatchObject({
      items: '{{nodes.store_documents.output.result}}',
    });
    expect(configOf(result, 'After')).toEqual({ values: { x: '{{item.document.pageContent}}' } });
    const { code } = configOf(result, 'Store: documents') ?? {};
    const matches = [{ key: 'k', text: 'Oolong', metadata: { lang: 'de' }, score: 0.5 }];
    expect(runInNewContext(`(() => {${asText(code)}})()`, { input: { matches } })).toEqual([
      { document: { pageContent: 'Oolong', metadata: { lang: 'de' } }, score: 0.5 },
    ]);
    expect(faultsOf(result)).toEqual([]);
  });

  it('is dropped if its filter says more than values can: without it, other texts would be found', () => {
    const result = search({ prompt: 'x', options: { searchFilterJson: '{"must_not": [{"key": "a"}]}' } });
    expect(outcomeOf(result, 'Store')).toMatchObject({ kind: 'dropped' });
    expect(flowOf(result).nodes.map(({ type }) => type)).toContain('core.placeholder');
  });
});

describe('vector stores behind models', () => {
  const CHAT = part('lmChatOpenAi', { model: 'gpt-4o' });

  it('are tools of an agent', () => {
    const result = read(
      n8n(
        {
          Chat: part('chatTrigger', { public: true }, 1.1),
          Agent: part('agent', {}, 1.9),
          Model: CHAT,
          Own: part('vectorStoreInMemory', {
            mode: 'retrieve-as-tool',
            toolName: 'notes',
            toolDescription: 'Notes of the team.',
            memoryKey: 'notes',
            topK: 3,
          }),
          Asked: part('toolVectorStore', { name: 'manual', description: 'The manual.', topK: 6 }),
          Behind: part('vectorStoreSupabase', {
            tableName: { __rl: true, value: 'documents', mode: 'list' },
          }),
          Second: CHAT,
          Embedding: EMBEDDING,
        },
        [
          ['Chat', 'Agent'],
          ['Model', 'Agent', 'ai_languageModel'],
          ['Own', 'Agent', 'ai_tool'],
          ['Asked', 'Agent', 'ai_tool'],
          ['Behind', 'Asked', 'ai_vectorStore'],
          ['Second', 'Asked', 'ai_languageModel'],
          ['Embedding', 'Own', 'ai_embedding'],
          ['Embedding', 'Behind', 'ai_embedding'],
        ],
      ),
    );
    const search = { operation: 'search', ...WITH_MODEL, query: '{{args.query}}' };
    expect(configOf(result, 'Agent')?.tools).toMatchObject([
      {
        name: 'notes',
        description: 'Notes of the team.',
        config: { ...search, collection: 'notes', limit: 3 },
      },
      {
        name: 'manual',
        description: 'The manual.',
        config: { ...search, collection: 'documents', limit: 6 },
      },
    ]);
    expect(outcomeOf(result, 'Asked')).toMatchObject({ what: [{ key: 'import.finds_texts' }] });
    expect(result.outcomes.filter(({ kind }) => kind === 'dropped')).toEqual([]);
    expect(faultsOf(result)).toEqual([]);
  });

  it('answer a question by what they find', () => {
    const result = read(
      n8n(
        {
          Start: START,
          Answer: part('chainRetrievalQa', { promptType: 'define', text: '={{ $json.question }}' }, 1.4),
          Model: CHAT,
          Retriever: part('retrieverVectorStore', { topK: 8 }),
          Store: part('vectorStorePGVector', { tableName: 'texts' }),
          Embedding: EMBEDDING,
        },
        [
          ['Start', 'Answer'],
          ['Model', 'Answer', 'ai_languageModel'],
          ['Retriever', 'Answer', 'ai_retriever'],
          ['Store', 'Retriever', 'ai_vectorStore'],
          ['Embedding', 'Store', 'ai_embedding'],
        ],
      ),
    );
    expect(configOf(result, 'Answer: texts')).toMatchObject({
      collection: 'texts',
      query: '{{trigger.data.question}}',
      limit: 8,
    });
    expect(configOf(result, 'Answer')).toMatchObject({
      prompt: '{{trigger.data.question}}',
      system: expect.stringContaining('{{nodes.answer_texts.output.matches | map: "text" | join: "\\n\\n"}}'),
    });
    expect(faultsOf(result)).toEqual([]);
  });
});

describe('servers of the Model Context Protocol', () => {
  const withServer = (parameters: JsonObject, version: number) =>
    read(
      n8n(
        {
          Chat: part('chatTrigger', { public: true }, 1.1),
          Agent: part('agent', {}, 1.9),
          Model: part('lmChatOpenAi', { model: 'gpt-4o' }),
          'My tools!': part('mcpClientTool', parameters, version),
        },
        [
          ['Chat', 'Agent'],
          ['Model', 'Agent', 'ai_languageModel'],
          ['My tools!', 'Agent', 'ai_tool'],
        ],
      ),
    );

  it('are those of the agent', () => {
    const result = withServer(
      {
        endpointUrl: 'https://mcp.example.com/mcp',
        serverTransport: 'httpStreamable',
        authentication: 'bearerAuth',
        include: 'selected',
        includeTools: ['search', 'read'],
      },
      1.1,
    );
    expect(configOf(result, 'Agent')?.mcp_servers).toEqual([
      { name: 'My_tools', url: 'https://mcp.example.com/mcp', tools: ['search', 'read'], credential_id: 0 },
    ]);
    expect(outcomeOf(result, 'My tools!')).toMatchObject({ what: [{ key: 'import.choose_credential' }] });
    expect(faultsOf(result)).toEqual([]);
  });

  it('say what has to be entered: their tools, and an address for Streamable HTTP', () => {
    const result = withServer({ sseEndpoint: 'https://mcp.example.com/sse' }, 1);
    expect(outcomeOf(result, 'My tools!')).toMatchObject({
      what: [{ key: 'import.streamable_only' }, { key: 'import.name_mcp_tools' }],
    });
    // Without tools it can't be activated.
    expect(faultsOf(result)).toEqual([expect.stringMatching(/mcp_servers\/0\/tools invalid_config$/)]);
  });
});
