import { type JsonObject, type JsonValue, parseJson, success } from '@millrace/engine';
import { saying } from '@millrace/messages/testing';
import { runNode } from '@millrace/node-kit/testing';
import { describe, expect, it } from 'vitest';
import { dataXml } from './data-xml.ts';

const run = async (config: JsonObject) => (await runNode(dataXml, { config })).result;
const parse = (xml: string, more: JsonObject = {}) => run({ operation: 'parse', xml, ...more });
const write = (data: JsonValue, more: JsonObject = {}) =>
  run({ operation: 'write', data, declaration: false, indent: false, ...more });

describe('parse', () => {
  it('makes lists of repeated elements only, and texts of those without more', async () => {
    const xml = '\uFEFF<a x="1"><b>1</b><b y="2">3<c/></b><d><![CDATA[<e>]]> &#233;&lt;</d><!-- f --></a>';
    expect(await parse(xml)).toEqual(
      success({ data: { a: { '@x': '1', b: ['1', { '@y': '2', c: '', '#text': '3' }], d: '<e> é<' } } }),
    );
  });

  it('leaves out attributes and prefixes if asked to, and has its own names', async () => {
    const xml = '<s:a xmlns:s="urn:x" y="1"><s:b z="2">t</s:b></s:a>';
    expect(await parse(xml, { attributes: false, namespaces: false })).toEqual(
      success({ data: { a: { b: 't' } } }),
    );
    expect(await parse(xml, { attribute_prefix: '', text_name: '_' })).toEqual(
      success({ data: { 's:a': { 'xmlns:s': 'urn:x', y: '1', 's:b': { z: '2', _: 't' } } } }),
    );
  });

  it('takes names that objects have by themselves', async () => {
    const xml = '<a><__proto__>1</__proto__><constructor>2</constructor><constructor>3</constructor></a>';
    const result = await parse(xml);
    expect(JSON.stringify('output' in result ? result.output : null)).toBe(
      '{"data":{"a":{"__proto__":"1","constructor":["2","3"]}}}',
    );
  });

  it.each([
    ['<a>\n<b></a>', 'line 2'],
    ['<a>&nope;</a>', 'line 1'],
    ['<a/><b/>', 'line 1'],
    ['plain', 'line 1'],
    ['', 'line 1'],
    ['<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>', 'line 1'],
    ['<!DOCTYPE a [<!ENTITY x "ha"><!ENTITY y "&x;&x;">]><a>&y;</a>', 'line 1'],
  ])('says where %j is not well-formed', async (xml, where) => {
    expect(await parse(xml)).toMatchObject({ kind: 'failure', code: 'invalid_data', message: saying(where) });
  });

  it.each(['<a>&nope;</a>', '<a>\n<b></a>', '<a b=c/>'])('says so in one sentence: %j', async (xml) => {
    expect(await parse(xml)).toMatchObject({ message: saying(/^The XML is .*[^.]\.$/) });
  });

  it('bounds the depth', async () => {
    expect(await parse('<a>'.repeat(600))).toMatchObject({ code: 'document_too_complex' });
  });
});

describe('write', () => {
  it('is the reverse of parse', async () => {
    const data = {
      a: { '@x': '"1" & <2>\n', b: ['1', { '@y': '2', '#text': '3 & <4>' }, ''], c: { d: ']]>' } },
    };
    const written = await write(data, { declaration: true, indent: true });
    const xml = 'output' in written ? ((written.output as JsonObject).xml as string) : '';
    expect(xml).toBe(
      `<?xml version="1.0" encoding="UTF-8"?>\n<a x="&quot;1&quot; &amp; &lt;2&gt;&#10;">\n  <b>1</b>\n  <b y="2">3 &amp; &lt;4&gt;</b>\n  <b/>\n  <c>\n    <d>]]&gt;</d>\n  </c>\n</a>`,
    );
    expect(await parse(xml, { lists: [] })).toEqual(success({ data }));
  });

  it('keeps digits, writes booleans, and leaves out attributes without a value', async () => {
    const data = parseJson('{"n": 12345678901234567890.10, "t": true, "@a": null, "z": null}');
    expect(await write(data, { root: 'r' })).toEqual(
      success({ xml: '<r><n>12345678901234567890.10</n><t>true</t><z/></r>' }),
    );
  });

  it.each([
    [{ a: 1, b: 2 }, '', 'config.root'],
    [{ a: [1] }, '', 'config.root'],
    [[1], 'r', 'at r'],
    [{ 'a b': 1 }, 'r', 'r.a b'],
    [{ '1a': 1 }, 'r', 'r.1a'],
    [{ 'a><b': 1 }, 'r', 'r.a><b'],
    [{ a: { '@b c': 1 } }, 'r', 'r.a.@b c'],
    [{ a: [1, [2]] }, 'r', 'r.a.1'],
    [{ a: { '@b': [1] } }, 'r', 'r.a.@b'],
    [{ a: 'x\u0000' }, 'r', 'r.a'],
  ])('says what in %j has no form in XML', async (data, root, path) => {
    expect(await write(data, { root })).toMatchObject({ code: 'invalid_data', message: saying(path) });
  });
});
