import editor from '../en/editor.json';
import { addTexts } from './add-texts.ts';

addTexts({ editor });
