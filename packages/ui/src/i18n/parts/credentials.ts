import credentials from '../en/credentials.json';
import { addTexts } from './add-texts.ts';

addTexts({ credentials });
