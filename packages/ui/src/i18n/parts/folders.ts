import folders from '../en/folders.json';
import { addTexts } from './add-texts.ts';

addTexts({ folders });
